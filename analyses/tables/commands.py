"""Commands that write tables for papers: export latex agreement, leaderboard, correlation."""

import json
import sys
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradelake.analyses.stats import options
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.whole_file import whole_file

if TYPE_CHECKING:
    from gradelake.analyses.tables.table import Table


@click.group("latex")
def export_latex():
    """Write tables for papers, as LaTeX, CSV or JSON.

    \b
    Examples:
      gradelake export latex leaderboard dl19 --label-set judge:Sun -o board.tex
      gradelake export latex correlation dl19 --measure AP -o correlation.tex
    """


@dataclass(frozen=True)
class Written:
    """A table and the file that has it; `-` is standard output."""

    table: "Table"
    output: Path

    def as_object(self) -> dict[str, Any]:
        return self.table.as_object()

    def show(self) -> None:
        if str(self.output) != "-":
            n_rows = sum(len(block.rows) for block in self.table.blocks)
            console.say(f"{self.output}: wrote {counted(n_rows, 'rows')}")


def writing(command):
    """Options of every table: the command makes one of a lake and its collection; it is written."""

    @click.option(
        "--format",
        "format_",
        default="latex",
        type=click.Choice(["latex", "csv", "json"]),
        help="What to write. Numbers are rounded in LaTeX only.",
    )
    @options.to_output()
    @click.option(
        "--standalone", is_flag=True, help="LaTeX: a document to compile, not a table to \\input."
    )
    @options.on_collection
    @options.answers
    @wraps(command)
    def write(read, format_, output, standalone, **asked):
        from gradelake.analyses.tables.latex import render

        if standalone and format_ != "latex":
            raise BadInput(f"--standalone is for LaTeX, not for --format {format_}")
        options.refuse_json_beside(output, "table")
        with console.working("reading the lake"), read() as lake:
            table = command(lake, **asked)
        if format_ == "json":
            content = json.dumps(table.as_object(), ensure_ascii=False) + "\n"
        else:
            content = table.as_csv() if format_ == "csv" else render(table, standalone)
        if str(output) == "-":
            sys.stdout.buffer.write(content.encode())
        else:
            with whole_file(output) as stream:
                stream.write(content.encode())
        return Written(table, output)

    return write


@export_latex.command("agreement", short_help="Write how often labels and judgments agree.")
@writing
@options.of_label_sets("May be repeated; the tables are stacked (default: all).")
@options.with_reference
@options.numbered("--cut", "Merge the labels: N and higher, and lower.")
@options.numbered(
    "--judgment-cut",
    "With --cut: the same for the judgments (default: the collection's min_relevant).",
)
@click.option(
    "--each-kappa",
    is_flag=True,
    help="Box a judgment for each label, with a kappa (default: for 4 and 0, as in RUBRIC).",
)
def agreement(lake, collection, cut, judgment_cut, **asked):
    """Write how often labels and judgments of COLLECTION agree, with Cohen's kappa.

    Beside labels 4 and 0 stands the kappa of the boxed judgment; beside each label of a scale that
    ends below 4, or where the judgments' does.

    \b
    Examples:
      gradelake export latex agreement dl19 --label-set flan/v0/best \\
          -o agreement.tex
      gradelake export latex agreement dl19 --label-set flan/v0/best --cut 4
    """
    from gradelake.analyses.tables.agreement import agreement_table

    if cut is not None and asked["each_kappa"]:
        raise BadInput("--each-kappa is for single labels, not for --cut")
    if judgment_cut is not None and cut is None:
        raise BadInput("--judgment-cut goes with --cut")
    return agreement_table(lake, collection, cut=cut, reference_cut=judgment_cut, **asked)


@export_latex.command("leaderboard", short_help="Write systems with their scores and ranks.")
@writing
@options.of_label_sets(
    "Whose labels score the systems; may be repeated (default: the only one, where there is one)."
)
@options.of_measures("May be repeated; the first orders the systems (default: all).")
@options.of_levels(
    "May be repeated (default: 4 of a rubric, else min_relevant, or the highest label below it)."
)
@click.option("--ranks", is_flag=True, help="The rank by each measure, beside its scores.")
@click.option("--stderr", "errors", is_flag=True, help="Standard errors, beside the scores.")
@click.option(
    "--interval", "intervals", is_flag=True, help="Half of the 95% intervals, beside the scores."
)
@click.option(
    "--groups",
    is_flag=True,
    help="Letters beside scores: a shared one means no significant difference (see stats ranks).",
)
@click.option(
    "--approximate",
    is_flag=True,
    help="~N for systems without an official rank: the better of their neighbours in the table.",
)
@click.option("--starred", is_flag=True, help="* behind systems without an official rank.")
@options.numbered("--ordered-by", "The level that orders the systems (default: the first).")
@click.option(
    "--correlation", is_flag=True, help="Beneath: how each column agrees with the official ranks."
)
def leaderboard(lake, collection, ranks, errors, intervals, groups, **asked):
    """Write the systems of COLLECTION with their scores, ranks and official ranks.

    \b
    Examples:
      gradelake export latex leaderboard dl19 --label-set judge:Sun \\
          --measure nDCG@10 --measure AP
      gradelake export latex leaderboard dl19 --label-set judge:Sun \\
          --measure AP --interval --groups
      gradelake export latex leaderboard dl19 --measure Cover@20 --stderr \\
          --label-set flan/v0/best --level 3 --level 4 --level 5
      gradelake export latex leaderboard dl19 --label-set judge:Sun \\
          --measure AP --approximate
      gradelake export latex leaderboard dl20 --label-set flan/v0/best \\
          --label-set flan_nuggets/v0/best --measure RR \\
          --level 3 --level 4 --level 5 --ordered-by 4 \\
          --approximate --starred --correlation
    """
    from gradelake.analyses.tables.leaderboard import Layout, leaderboard_table

    if errors and intervals:
        raise BadInput("--stderr and --interval cannot be used together")
    each = {"stderr": errors, "half_interval": intervals, "rank": ranks, "groups": groups}
    beside = [name for name, is_asked in each.items() if is_asked]
    of_layout = ("approximate", "starred", "ordered_by", "correlation")
    layout = Layout(beside, **{name: asked.pop(name) for name in of_layout})
    return leaderboard_table(lake, collection, layout=layout, **asked)


@export_latex.command("correlation", short_help="Write how leaderboards agree.")
@writing
@options.of_label_sets("May be repeated (default: all).")
@options.of_levels("May be repeated (default: all that the labels reach).")
@options.of_measures("May be repeated (default: all).")
@options.with_official_ranks
@click.option("--by-topic", is_flag=True, help="The mean of each topic's correlation, beside it.")
@click.option(
    "--within",
    type=click.FloatRange(0),
    metavar="X",
    help="What is so close to the best of a column is as good; count how often each row is.",
)
@click.option(
    "--overlapping",
    is_flag=True,
    help="The same for what overlaps the best within standard errors over queries.",
)
@options.replicated("Bootstrap samples of --overlapping.", 1000)
@click.option("--grey-below", type=float, metavar="X", help="Print what is below X in grey.")
@click.option(
    "--repeated", is_flag=True, help="What knows no level in each row, as in RUBRIC's Table 3."
)
def correlation(
    lake, collection, within, overlapping, replicates, seed, grey_below, repeated, **asked
):
    """Write how COLLECTION's leaderboards agree with the official one: Spearman, Kendall.

    A --reference is taken at min_relevant where it is an assessor, else at the same level.
    --measure "AP spearman" is one of two columns. A dagger stands where all systems are perfect.

    \b
    Examples:
      gradelake export latex correlation dl19 --measure nDCG@10 \\
          --measure AP -o correlation.tex
      gradelake export latex correlation dl19 --measure AP --within 0.05
      gradelake export latex correlation dl19 --measure AP \\
          --overlapping --grey-below 0.5
      gradelake export latex correlation dl19 --measure AP \\
          --reference assessor:nist --by-topic
    """
    from gradelake.analyses.tables.correlation import Style, correlation_table

    style = Style(within, overlapping, replicates, seed, grey_below, repeated)
    return correlation_table(lake, collection, style=style, **asked)


@export_latex.command("labels", short_help="Write how many labels there are, and how they agree.")
@writing
@options.of_label_sets("May be repeated (default: all).")
@options.with_reference
@options.named("--measure", "Of the leaderboards that are correlated.", default="nDCG@10")
def labels(lake, collection, **asked):
    """Write COLLECTION's runs, topics and labels, and how each label set agrees with a reference.

    Kappas of all labels and of two, beside the correlation of leaderboards, as in UMBRELA's Tables
    1 and 2.

    \b
    Examples:
      gradelake export latex labels dl19 -o labels.tex
      gradelake export latex labels dl19 --label-set judge:umbrela
    """
    from gradelake.analyses.tables.labels import labels_table

    return labels_table(lake, collection, **asked)


@export_latex.command("judges", short_help="Write how far each judge agrees with people.")
@writing
@options.of_label_sets("May be repeated (default: all).")
@options.with_reference
@options.named("--measure", "Of the leaderboards.", default="nDCG@10")
def judges(lake, collection, **asked):
    """Write a row for each label set of COLLECTION, and a column for each statistic of agreement.

    On passages: kappa, precision and recall of what is relevant, and quadratic kappa of all labels
    where both scales end alike. On systems: correlations of leaderboards, over all and over the
    reference's first 5 and 10.

    \b
    Examples:
      gradelake export latex judges dl19 -o judges.tex
      gradelake export latex judges dl19 --measure AP --format csv
    """
    from gradelake.analyses.tables.judges import judges_table

    return judges_table(lake, collection, **asked)
