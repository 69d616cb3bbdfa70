"""Opening the lake with every edit of the file in its views."""

from collections.abc import Callable

import duckdb

from gradelake.ingest.rubric import edits_file
from gradelake.sql.build import seeds
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

_VIEWS = ("int_rubric_items", "int_rubric_edits")


def open_up_to_date(
    project: Project, tell: Callable[[str], None]
) -> tuple[Lake, list[edits_file.Row]]:
    """Open the working catalog, its views holding the edits of the file; and these edits.

    Where the views do not hold them, a partial build is made, which publishes nothing. Raises what
    it raises when the file has rows that cannot be applied.
    """
    rows = edits_file.read(project)
    for _ in range(2):  # a second time when somebody saves edits meanwhile
        lake = Lake.live(project)
        if not _holds(lake, project):
            lake.close()
            from gradelake.sql.build.building import build

            tell("bringing the rubric up to date with its edits")
            build(project, [], ["(rubric edits)"], only=_VIEWS)
            lake = Lake.live(project)
        rows, known = edits_file.read(project), rows
        if rows == known:
            break
        lake.close()
    else:
        lake = Lake.live(project)
    fetch(lake)
    return lake, rows


def open_without_build(project: Project) -> Lake | None:
    """Open it where no build is needed, else None. Nothing is written, so any thread may call."""
    lake = Lake.live(project)
    if _holds(lake, project):
        fetch(lake)
        return lake
    lake.close()
    return None


def _holds(lake: Lake, project: Project) -> bool:
    try:
        for view in _VIEWS:
            lake.connection.execute(f"select * from lake.intermediate.{view} limit 0")
    except duckdb.Error:  # no build yet
        return False
    return seeds.edits_are_in(lake, project)


def fetch(lake: Lake) -> None:
    """What `Rubric` reads: the views as temporary tables: each is computed once."""
    for name in ("states", "edits"):
        lake.connection.execute(
            f"create or replace temp table rubric_{name} as "
            f"select * from lake.intermediate.int_rubric_{name}"
        )
