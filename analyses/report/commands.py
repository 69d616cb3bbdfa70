"""The command that writes the report."""

import os
import sys
from pathlib import Path

import click

from gradelake.analyses.stats.options import named, to_file, with_json
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted

LARGE = 40_000_000  # bytes: beyond it a browser takes seconds to open the page


@click.command(short_help="Write what the lake says of a COLLECTION as one HTML file.")
@click.argument("collections", nargs=-1, metavar="[COLLECTION]...")
@to_file("The file, for one collection. Default: reports/COLLECTION.html next to gradelake.toml.")
@named(
    "--reference",
    "The assessor to compare with: assessor:NAME. Default: the one who judged the most.",
)
@click.option(
    "--compare-with",
    metavar="RELEASE",
    help="Show how ranks moved since this release. Default: the one before.",
)
@click.option(
    "--grid-passages",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show the N best passages of each query's grid, and no texts but theirs and those of the "
    "first N of each ranking. Default: all.",
)
@click.option(
    "--without-rubric", is_flag=True, help="Show no item, answer, grid or night: to be shared."
)
@click.option(
    "--preview",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Show what edits will move that are not built: what `rubric preview --json` printed.",
)
@click.option("--release", help="Read a named release instead of the newest.")
@click.option("--live", is_flag=True, help="Read the working catalog: the newest commit.")
@with_json
@click.pass_obj
def report(
    project,
    collections,
    output,
    reference,
    compare_with,
    grid_passages,
    without_rubric,
    preview,
    release,
    live,
    as_json,
):
    """Write what the lake says of each COLLECTION (default: all) as one HTML file.

    The file needs no server and no network: leaderboards, agreement, the grade grid, the rubric's
    health, cost and provenance. Each system, query, passage and item has a view of its own, two
    systems or label sets are compared side by side, and what moved is told: by edits of the rubric,
    and since the release compared with.

    \b
    Examples:
      gradelake report
      gradelake report dl19 --compare-with r3 -o dl19.html
      gradelake rubric preview dl19 --json > preview.json
      gradelake report dl19 --preview preview.json
    """
    from gradelake.analyses.report.files import write_reports

    project = project()
    with console.working("writing the report"):
        done = write_reports(
            project,
            collections,
            lambda what, items: console.progress(what, items, len(items)),
            output,
            reference,
            compare_with,
            grid_passages,
            release,
            live,
            without_rubric,
            preview,
        )
    if as_json:
        console.print_json(done.as_object())
        sys.exit(1 if done.refused else 0)
    for one in done.written:
        console.say(
            f"{os.path.relpath(one['file'])}: {counted(one['systems'], 'systems')}, "
            f"{counted(one['label_sets'], 'label sets')}, {counted(one['grids'], 'grade grids')}, "
            f"{console.size(one['bytes'])}"
        )
        if one["left_out"]:
            console.say(f"  not correlated: {len(one['left_out'])}, such as {one['left_out'][0]}")
        if one["bytes"] > LARGE:
            console.warn("  a large page opens slowly: --grid-passages 50 makes it smaller")
    if done.refused:
        for reason in done.refused:
            console.warn(f"error: {reason}")
        sys.exit(1)
