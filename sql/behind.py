"""What readers of a release do not see yet: data that came into the lake after it."""

from typing import TYPE_CHECKING

import duckdb

from sql import releases
from sql.errors import GradelakeError

if TYPE_CHECKING:
    from sql.lake import Lake

# how the messages of commits begin that bring data; builds, upkeep and releases bring none
_DATA = "^(ingest|import|grade|generate|distil|review) "


def not_built_yet(lake: "Lake") -> str | None:
    """What to say when something is not found in the newest release and the working catalog has
    commits of data after it; None where that is not so.

    It also is None when the working catalog cannot be read: a reader of releases may have no right
    to it, and what was asked has been answered without it.
    """
    from sql.lake import Lake

    if lake.release is None:
        return None
    try:
        with Lake.live(lake.project) as live:
            found = releases.listed(live.connection)
            if not found or found[-1].name != lake.release:
                return None  # an older release was asked for
            later = live.value(
                "select count(*) from lake.snapshots() where snapshot_id > ? "
                "and regexp_matches(coalesce(commit_message, ''), ?)",
                found[-1].snapshot, _DATA,
            )  # fmt: skip
    except (GradelakeError, duckdb.Error, OSError):
        return None
    if not later:
        return None
    return (
        f"The lake has commits that are not in release {lake.release}: "
        "`gradelake build` brings them in."
    )
