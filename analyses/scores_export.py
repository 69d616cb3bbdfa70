"""`gradelake export scores`: topic scores and means of a board, as tools of tracks read them."""

import json
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradelake.analyses.stats import options
from gradelake.sql.common.errors import BadInput

if TYPE_CHECKING:
    from gradelake.sql.lake.opening import Lake

# autojudge's layouts of leaderboards: their columns, tabs between them
LAYOUTS = {
    "ir_measures": ("run", "topic", "measure", "value"),
    "tot": ("run", "measure", "topic", "value"),
    "rag4reports": ("topic", "run", "measure", "value"),
    "trec_eval": ("measure", "topic", "value"),  # a file for each run, named after it
    "jsonl": ("run_id", "topic_id", "measure", "value"),
}
# of our families of measures, how trec_eval calls them: whole, and to a depth
NAMES = {
    "AP": ("map", "map_cut_"),
    "nDCG": ("ndcg", "ndcg_cut_"),
    "RR": ("recip_rank", None),
    "P": (None, "P_"),
    "R": (None, "recall_"),
    "Success": (None, "success_"),
    "SetP": ("set_P", None),
    "SetR": ("set_recall", None),
    "SetF": ("set_F", None),
}
# a query that a system has no score of counts 0 in its mean, and says so
ROWS = """
    with

    board as (
        select system, measure, averaged_over, score
        from lake.marts.leaderboard
        inner join lake.marts.measures using (measure)
        where
            collection = $1 and label_set = $2 and level = $3
            and ($4 is null or list_contains($4, measure))
    ),

    topics as (
        select averaged_over, query_id
        from lake.marts.board_queries
        where collection = $1 and label_set = $2
    ),

    scores as (
        select * from lake.marts.topic_scores
        where collection = $1 and label_set = $2 and level = $3
    ),

    lines as (
        select
            system as run, query_id as topic, measure, coalesce(value, 0) as value, false as is_mean
        from board
        inner join topics using (averaged_over)
        left join scores using (system, query_id, measure)
        union all
        select system as run, 'all' as topic, measure, score as value, true as is_mean from board
    )

    select run, topic, measure, value
    from lines
    order by measure, run, is_mean, topic
"""


@click.command("scores", short_help="Write topic scores and means as track tools read them.")
@options.named("--label-set", "The label set of the board.", required=True)
@options.of_measures("One of the board's measures; may be repeated (default: all).")
@options.numbered("--level", "The relevance level (default: the usual one).")
@click.option(
    "--layout",
    type=click.Choice(list(LAYOUTS)),
    default="ir_measures",
    help="Which columns, in which order; jsonl is JSON lines, trec_eval a folder "
    "with a file for each system, and trec_eval's names of measures.",
)
@click.option(
    "--measures-yml", is_flag=True, help="Name the measures in OUTPUT.measures.yml as well."
)
@options.to_output("The file, for trec_eval a new folder; - is standard output.")
@options.on_collection
@options.answers
def export_scores(read, collection, label_set, measures, level, layout, measures_yml, output):
    """Write a board of COLLECTION: every topic's score of each system, and `all`, their mean.

    \b
    Examples:
      gradelake export scores rag --label-set assigns/v0/nuggets -o rag.eval.txt
      gradelake export scores dl19 --label-set assessor:nist \\
          --measure nDCG@10 --layout tot
    """
    per_run = layout == "trec_eval"
    options.refuse_json_beside(output, "scores")
    if str(output) == "-" and (per_run or measures_yml):
        option = "--layout trec_eval" if per_run else "--measures-yml"
        raise BadInput(f"{option} writes several files", "Say where with --output.")
    with read() as lake:
        rows = [
            (run, topic, name_in(layout, measure), value)
            for run, topic, measure, value in scores_of(
                lake, collection, label_set, measures, level
            )
        ]
    lines = lines_of(rows, layout)
    if str(output) == "-":
        click.echo("\n".join(lines))  # tabs stay tabs
    elif per_run:
        _write_per_run(output, rows)
    else:
        _write(output, lines)
    if measures_yml:
        names = map(json.dumps, dict.fromkeys(measure for _, _, measure, _ in rows))
        entries = (f"- name: {name}\n  dtype: float" for name in names)
        _write(output.with_suffix(".measures.yml"), ["measures:", *entries])
    files = {} if str(output) == "-" else {label_set: (output, len(lines))}
    return options.WrittenExport(collection, "scores", files, {"layout": layout})


def scores_of(
    lake: "Lake",
    collection: str,
    label_set: str,
    measures: tuple[str, ...] = (),
    level: int | None = None,
) -> list[tuple[str, str, str, float]]:
    """(system, query or `all`, measure, value) of a board, by measure, system and query, `all`
    last. Raises `BadInput` for a label set, measure or level that the leaderboard does not have."""
    from gradelake.analyses.stats.boards import require_measures

    level = require_measures(lake, collection, label_set, measures, level)
    return lake.rows(ROWS, collection, label_set, level, list(measures) or None)


def name_in(layout: str, measure: str) -> str:
    """How a layout's tools call a measure; those that they do not have keep their names."""
    family, _, depth = measure.partition("@")
    whole, cut = NAMES.get(family, (None, None)) if layout == "trec_eval" else (None, None)
    return (cut and f"{cut}{depth}" if depth else whole) or measure


def lines_of(rows: list[tuple[str, str, str, float]], layout: str) -> list[str]:
    """A line for each of the rows of `scores_of`."""
    columns = LAYOUTS[layout]
    if layout == "jsonl":
        return [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
    places = [LAYOUTS["ir_measures"].index(column) for column in columns]
    return ["\t".join(str(row[place]) for place in places) for row in rows]


def _write(output: Path, lines: list[str]) -> None:
    from gradelake.sql.common.whole_file import whole_file

    with whole_file(output) as stream:
        stream.write("".join(f"{line}\n" for line in lines).encode())


def _write_per_run(folder: Path, rows: list[tuple[str, str, str, float]]) -> None:
    """A new folder with a file for each system: autojudge takes the name of a file, ending and
    all, for the run's. Raises `BadInput` when it cannot be written."""
    from gradelake.sql.common.whole_file import whole_folder

    by_run = itemgetter(0)
    with whole_folder(folder) as unfinished:
        for run, of_run in groupby(sorted(rows, key=by_run), by_run):
            lines = lines_of(list(of_run), "trec_eval")
            (unfinished / run).write_text("".join(f"{line}\n" for line in lines))
