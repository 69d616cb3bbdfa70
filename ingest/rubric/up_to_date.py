"""Opening the lake with every edit of the file in its views."""

from gradelake.ingest.rubric import edits_file
from gradelake.sql.build.ensure import are_current, ensure
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

_READ = (("intermediate.int_rubric_items", "intermediate.int_rubric_edits"), ("rubric_edits",))


def open_up_to_date(project: Project) -> tuple[Lake, list[edits_file.Row]]:
    """Open the working catalog, its views holding the edits of the file; and these edits.

    Raises what `ensure` raises when the file has rows that cannot be applied.
    """
    lake, rows = Lake.live(project), edits_file.read(project)
    try:
        for _ in range(2):  # a second time when somebody saves edits meanwhile
            ensure(lake, *_READ)
            rows, known = edits_file.read(project), rows
            if rows == known:
                break
        fetch(lake)
    except BaseException:
        lake.close()
        raise
    return lake, rows


def open_without_build(project: Project) -> Lake | None:
    """Open it where no build is needed, else None. Nothing is written, so any thread may call."""
    lake = Lake.live(project)
    if are_current(lake, *_READ):
        fetch(lake)
        return lake
    lake.close()
    return None


def fetch(lake: Lake) -> None:
    """What `Rubric` reads: the views as temporary tables: each is computed once."""
    for name in ("states", "edits"):
        lake.connection.execute(
            f"create or replace temp table rubric_{name} as "
            f"select * from lake.intermediate.int_rubric_{name}"
        )
