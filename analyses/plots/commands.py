"""Commands that draw pictures: `gradelake plot`."""

from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from gradelake.analyses.stats import options
from gradelake.sql.common import console
from gradelake.sql.common.command_line import refuse_beside, to_file, with_options
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.whole_file import whole_file


@click.group()
def plot():
    """Draw boards, agreement and grades as SVG, PNG or PDF.

    \b
    Examples:
      gradelake plot confusion dl19 --label-set judge:Sun -o confusion.svg
      gradelake plot scatter dl19 --label-set judge:Sun --measure AP -o ap.pdf
      gradelake plot leaderboard dl19 --label-set judge:Sun --measure AP -o b.svg
      gradelake plot correlation dl19 --measure nDCG@10 -o correlation.svg
    """


@dataclass(frozen=True)
class Drawn:
    """A picture: what is in it, for `--json`, and in a line."""

    collection: str
    file: Path
    figures: dict[str, Any]
    line: str

    def as_object(self) -> dict[str, Any]:
        return {"collection": self.collection, "file": str(self.file)} | self.figures

    def show(self) -> None:
        console.say(f"{self.file}: {self.line}")


def drawing(command):
    """Make a command of a function that makes a picture of COLLECTION of a lake, and returns it
    with the `figures` and the `line` of `Drawn`."""

    @wraps(command)
    def draw_it(read, collection, output, width, height, font_size, **asked):
        from gradelake.sql.shown.pictures.picture import draw, form_of

        form = form_of(output)  # before any work
        with console.working("drawing"), read() as lake:
            picture, figures, line = command(lake, collection, **asked)
            content = draw(picture, form, width, height, font_size)
        with whole_file(output) as stream:
            stream.write(content)
        return Drawn(collection, output, figures, line)

    looks = (
        ("--width", "INCHES", "How wide the picture is. Default: as what is in it needs."),
        ("--height", "INCHES", "How high it is. Default: as what is in it needs."),
        ("--font-size", "POINTS", "Of its usual text; all else in proportion. Default: 9."),
    )
    to_picture = with_options(
        to_file("The file; its ending says svg, png or pdf.", required=True),
        *(
            click.option(name, type=click.FloatRange(0, 100, True), metavar=of, help=what)
            for name, of, what in looks
        ),
    )
    return options.on_collection(options.answers(to_picture(draw_it)))


of_label_set = options.named("--label-set", options.LABEL_SET, required=True)


@plot.command(short_help="Draw how often each label meets each judgment.")
@drawing
@of_label_set
@options.with_reference
@click.option(
    "--by-label",
    is_flag=True,
    help="Shares of each label of --label-set (default: of each of the reference's).",
)
def confusion(lake, collection, label_set, **asked):
    """Draw how often each label meets each judgment: counts, and shares of each judgment.

    By people's labels, as in UMBRELA's Figure 2: of what they judged 3, how much has which label.

    \b
    Examples:
      gradelake plot confusion dl19 --label-set flan/v0/best -o confusion.svg
      gradelake plot confusion dl19 --label-set flan/v0/best --by-label -o c.svg
    """
    from gradelake.analyses.plots.confusion import confusion_picture

    picture, n_pairs, whose = confusion_picture(lake, collection, label_set, **asked)
    says = f"drew {counted(n_pairs, 'pairs')} of {label_set}, as shares of each label of {whose}"
    return picture, {"pairs": n_pairs, "shares_of": whose}, says


@plot.command(short_help="Draw the systems' scores by labels and by a reference.")
@drawing
@of_label_set
@options.with_reference
@options.measured
@options.at_level
def scatter(lake, collection, measure, **asked):
    """Draw each system's score by the labels and by the reference's, with Kendall's tau-b.

    Systems that rank far from their place by the reference are named.

    \b
    Examples:
      gradelake plot scatter dl19 --label-set flan/v0/best \\
          --measure nDCG@10 -o scatter.svg
    """
    from gradelake.analyses.plots.scatter import scatter_picture

    picture, far, more = scatter_picture(lake, collection, measure=measure, **asked)
    line = f"drew the systems by {measure}"
    if far:
        line += f"; far from their place: {', '.join(far)}"
    if more:
        line += f", and {len(more)} more"
    return picture, {"outliers": far, "more_outliers": more}, line


@plot.command(short_help="Draw several leaderboards over each other.")
@drawing
@options.of_label_sets(
    "Whose labels score the systems; may be repeated (default: the only one, where there is one)."
)
@options.of_measures("May be repeated.")
@options.of_levels(
    "May be repeated (default: 4 of a rubric, else min_relevant, or the highest label below it)."
)
@click.option(
    "--board",
    "single",
    type=(str, str, int),
    multiple=True,
    metavar="LABEL_SET MEASURE LEVEL",
    help="One board, instead of all that the options above make; may be repeated.",
)
def boards(lake, collection, single, **asked):
    """Draw systems' scores on several leaderboards, each from its lowest to its highest score.

    Bars are standard errors over queries. Systems are in the order of their official ranks, or of
    the first leaderboard. As in Figure 2 of EXAM++.

    \b
    Examples:
      gradelake plot boards dl19 --measure Cover@20 --level 4 --level 5 \\
          --label-set flan/v0/best -o boards.svg
      gradelake plot boards dl19 --board flan/v0/best Cover@20 4 \\
          --board assessor:nist AP 2 -o boards.svg
    """
    from gradelake.analyses.plots.boards import boards_picture

    if bool(single) == bool(asked["measures"]):
        raise BadInput("give either --measure NAME or --board LABEL_SET MEASURE LEVEL")
    if single:
        refuse_beside("--board", dict.fromkeys(("--label-set", "--level"), "names each"))
    picture, systems = boards_picture(lake, collection, single=single, **asked)
    return picture, {"systems": systems}, f"drew {counted(len(systems), 'systems')}"


@plot.command(short_help="Draw a leaderboard with intervals and groups.")
@drawing
@of_label_set
@options.measured
@options.at_level
@options.at_alpha("Significance level of the groups.")
@options.replicated("Random permutations of the test.")
@options.with_confidence
def leaderboard(lake, collection, replicates, **asked):
    """Draw each system's score with its interval, and which systems cannot be told apart.

    Systems within a grey bar do not differ significantly (randomised Tukey HSD). The figures
    are those of `gradelake stats ranks`.

    \b
    Examples:
      gradelake plot leaderboard dl19 --label-set judge:Sun --measure AP -o ap.svg
    """
    from gradelake.analyses.plots.leaderboard import leaderboard_picture

    picture, found = leaderboard_picture(lake, collection, n_replicates=replicates, **asked)
    names = [one.system for one in found.systems]
    figures = {
        "systems": names,
        "groups": [[names[place] for place in group] for group in found.groups],
    }
    groups = counted(len(found.groups), "overlapping groups")
    return picture, figures, f"drew {counted(len(names), 'systems')} in {groups}"


@plot.command(short_help="Draw how well each label set's leaderboard agrees.")
@drawing
@options.measured
@options.of_label_sets("Draw this one; repeat it for more. Default: all that have the measure.")
@options.at_level
@options.with_official_ranks
@options.replicated("Bootstrap samples.")
@options.with_confidence
def correlation(lake, collection, replicates, **asked):
    """Draw each label set's Kendall's tau-b and Spearman's rho with the official ranks.

    Intervals are from resampling queries and systems: those of `gradelake stats correlation`.

    \b
    Examples:
      gradelake plot correlation dl19 --measure nDCG@10 -o correlation.svg
    """
    from gradelake.analyses.plots.correlation import correlation_picture

    picture, found = correlation_picture(lake, collection, n_replicates=replicates, **asked)
    names = [one.board.label_set for one in found]
    return picture, {"label_sets": names}, f"drew {counted(len(names), 'label sets')}"


@plot.command(short_help="Draw two systems' differences topic by topic.")
@drawing
@of_label_set
@options.measured
@options.at_level
@click.option(
    "--systems", nargs=2, metavar="ONE OTHER", required=True, help="The two, by their names."
)
@options.replicated("Random patterns of the test, where there are too many to try all.")
def topics(lake, collection, systems, **asked):
    """Draw on which topics one system is better than another, and by how much.

    p is of the paired randomisation test, as in `gradelake stats significance`.

    \b
    Examples:
      gradelake plot topics dl19 --label-set judge:Sun --measure AP \\
          --systems TUA1-1 p_bert -o topics.svg
    """
    from gradelake.analyses.plots.topics import topics_picture

    picture, figures = topics_picture(lake, collection, systems=systems, **asked)
    of = counted(figures["queries"], "queries")
    return picture, figures, f"{systems[0]} is better on {figures['wins']} of {of}"


@plot.command(short_help="Draw how much of the rubric each system covers.")
@drawing
@of_label_set
@options.at_level
def coverage(lake, collection, **asked):
    """Draw each system's Cover@k as dots, a dot for each k, the system that covers most on top.

    \b
    Examples:
      gradelake plot coverage dl19 --label-set flan/v0/best -o coverage.svg
    """
    from gradelake.analyses.plots.coverage import coverage_picture

    picture, systems, left_out = coverage_picture(lake, collection, **asked)
    figures = {"systems": systems, "left_out": left_out}
    without = f", without {', '.join(left_out)}" if left_out else ""
    return picture, figures, f"drew {counted(len(systems), 'systems')}{without}"


@plot.command(short_help="Draw whether graders' probabilities are what they say.")
@drawing
@click.option(
    "--grader", "graders", multiple=True, metavar="NAME", required=True, help="May be repeated."
)
@options.with_reference
@options.numbered("--cut", "A grade from which on (default: min_relevant, or the nearest).")
def calibration(lake, collection, graders, **asked):
    """Draw how often people hold relevant what a grader holds so probable, with counts.

    On the dashed line a probability is what it says. ECE is how far a bin lies from
    it on the average, Brier the mean squared error; both as in `judge_calibration`.

    \b
    Examples:
      gradelake plot calibration dl19 --grader umbrela -o calibration.svg
    """
    from gradelake.analyses.plots.calibration import calibration_picture

    picture, found = calibration_picture(lake, collection, graders, **asked)
    return picture, {"graders": found}, f"drew {counted(len(found), 'graders')}"


@plot.command(short_help="Draw the distribution of grades of each rubric item.")
@drawing
@options.named("--grader", "Whose grades.", required=True)
@options.named("--rubric-version", "A version of the rubric.", default="newest")
@options.named("--query", "The items of this query only, by its id.")
def grades(lake, collection, query, **asked):
    """Draw what share of passages each rubric item gave each grade, the best answered on top.

    \b
    Examples:
      gradelake plot grades dl19 --grader flan --query 1037798 -o grades.svg
    """
    from gradelake.analyses.plots.grades import grades_picture

    picture, items = grades_picture(lake, collection, query_id=query, **asked)
    return picture, {"items": items}, f"drew {counted(len(items), 'items')}"
