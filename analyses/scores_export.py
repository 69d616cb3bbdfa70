"""`gradelake export scores`: topic scores and means of a board, as tools of tracks read them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradelake.analyses.stats.options import named, of_measures, reading, to_output, with_json
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput

if TYPE_CHECKING:
    from gradelake.sql.lake.lake import Lake

# autojudge's layouts of leaderboards: their columns, tabs between them
LAYOUTS = {
    "ir_measures": ("run", "topic", "measure", "value"),
    "tot": ("run", "measure", "topic", "value"),
    "rag4reports": ("topic", "run", "measure", "value"),
    "jsonl": ("run_id", "topic_id", "measure", "value"),
}
# a system without an answer to a query counts 0 in its mean, and has no line of that query
ROWS = """
    with

    scores as (
        select system as run, query_id as topic, measure, value, false as is_mean
        from lake.marts.topic_scores
        where collection = $1 and label_set = $2 and level = $3
        union all
        select system as run, 'all' as topic, measure, score as value, true as is_mean
        from lake.marts.leaderboard
        where collection = $1 and label_set = $2 and level = $3
    )

    select run, topic, measure, value
    from scores
    where $4 is null or list_contains($4, measure)
    order by measure, run, is_mean, topic
"""


@click.command("scores", short_help="Write topic scores and means as track tools read them.")
@named("--label-set", "As in the leaderboard.", required=True)
@of_measures("One of the board's measures, as often as you like (default: all).")
@click.option(
    "--level", type=int, metavar="N", help="The relevance level (default: the usual one)."
)
@click.option(
    "--layout",
    type=click.Choice(list(LAYOUTS)),
    default="ir_measures",
    show_default=True,
    help="Which columns, in which order; jsonl is JSON lines.",
)
@to_output()
@reading
@with_json
def export_scores(read, collection, label_set, measures, level, layout, output, as_json):
    """Write a board of COLLECTION: every topic's score of each system, and `all`, their mean.

    \b
    Examples:
      gradelake export scores rag --label-set assigns/v0/nuggets -o rag.eval.txt
      gradelake export scores dl19 --label-set assessor:nist \\
          --measure nDCG@10 --layout tot
    """
    if as_json and str(output) == "-":
        raise BadInput(
            "--json and the scores would both go to standard output", "Add --output FILE."
        )
    with read() as lake:
        lines = scores_of(lake, collection, label_set, measures, level, layout)
    if str(output) == "-":
        click.echo("\n".join(lines))  # tabs stay tabs
        return
    _write(output, lines)
    if as_json:
        written = {"label_set": label_set, "layout": layout, "file": str(output)}
        console.print_json(
            {"collection": collection, "written": [written | {"scores": len(lines)}]}
        )
    else:
        console.say(f"{output}: wrote {counted(len(lines), 'scores')} of {label_set}")


def scores_of(
    lake: "Lake",
    collection: str,
    label_set: str,
    measures: tuple[str, ...] = (),
    level: int | None = None,
    layout: str = "ir_measures",
) -> list[str]:
    """Lines of a board, by measure, system and query, `all` last. Raises `BadInput` for a label
    set, measure or level that the leaderboard does not have."""
    from gradelake.analyses.stats.boards import require_measures

    level = require_measures(lake, collection, label_set, measures, level)
    rows = lake.rows(ROWS, collection, label_set, level, list(measures) or None)
    columns = LAYOUTS[layout]
    if layout == "jsonl":
        return [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
    places = [LAYOUTS["ir_measures"].index(column) for column in columns]
    return ["\t".join(str(row[place]) for place in places) for row in rows]


def _write(output: Path, lines: list[str]) -> None:
    from gradelake.sql.common.whole_file import whole_file

    with whole_file(output) as stream:
        stream.write("".join(f"{line}\n" for line in lines).encode())
