"""What readers of a release do not see yet: data and edits of seeds that came after it."""

from typing import TYPE_CHECKING

import duckdb

from gradelake.sql.build import nodes_to_skip, seeds
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.releases import releases

if TYPE_CHECKING:
    from gradelake.sql.lake.lake import Lake

# how the messages of commits begin that bring data; builds, upkeep and releases bring none
_DATA = "^(ingest|import|grade|generate|distil|review) "


def not_built_yet(lake: "Lake") -> str | None:
    """What to say when something is not found in the newest release, and the working catalog has
    commits of data after it or people's seeds were edited; None where that is not so.

    It also is None when the working catalog cannot be read: a reader of releases may have no right
    to it, and what was asked has been answered without it.
    """
    from gradelake.sql.lake.lake import Lake

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
                found[-1].snapshot,
                _DATA,
            )
            built = nodes_to_skip.last_build(live)
            edited = seeds.edited_since(lake.project, built[1]) if built else []
    except (GradelakeError, duckdb.Error, OSError):
        return None
    what = ["The lake has commits"] * bool(later) + [f"seeds/{name} has edits" for name in edited]
    if not what:
        return None
    return (
        f"{', '.join(what)} that are not in release {lake.release}: "
        "`gradelake build` brings them in."
    )
