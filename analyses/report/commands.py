"""The command that writes the report."""

from pathlib import Path

import click

from gradelake.analyses.stats.options import answers, named, numbered
from gradelake.sql.common import console
from gradelake.sql.common.command_line import reading, to_file


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
    "--compare",
    nargs=2,
    metavar="A B",
    help="Put first whether system B is better than A; leave out sections that would be empty.",
)
@numbered(
    "--grid-passages",
    "Show the N best passages of each query's grid, and no texts but theirs and those of the "
    "first N of each ranking. Default: all.",
    click.IntRange(min=1),
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
@reading
@answers
@click.pass_obj
def report(project, read, **asked):
    """Write what the lake says of each COLLECTION (default: all) as one HTML file.

    The file needs no server and no network: leaderboards, agreement, the grade grid, the rubric's
    health, cost and provenance. Each system, query, passage and item has a view of its own, two
    systems or label sets are compared side by side, and what moved is told: by edits of the rubric,
    and since the release compared with.

    \b
    Examples:
      gradelake report
      gradelake report dl19 --compare-with r3 -o dl19.html
      gradelake report dl19 --compare bm25 mine
      gradelake rubric preview dl19 --json > preview.json
      gradelake report dl19 --preview preview.json
    """
    from gradelake.analyses.report.files import write_reports
    from gradelake.analyses.report.page import ReportRequest

    with console.working("writing the report"), read() as lake:
        return write_reports(project(), lake, ReportRequest(**asked))
