"""What readers do not see yet: data and edits of seeds that came after a release, or any data."""

import duckdb

from gradelake.sql.build import changes, seeds
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import publishing


def not_built_yet(lake: Lake) -> str | None:
    """What to say when something is not found in the newest release, and the working catalog has
    commits of data after it or people's seeds were edited, or where nothing was ever ingested; None
    where that is not so.

    It also is None when the working catalog cannot be read: a reader of releases may have no right
    to it, and what was asked has been answered without it.
    """
    if lake.release is None:
        return _empty(lake)
    try:
        with Lake.live(lake.project) as live:
            found = publishing.listed(live.connection)
            if not found or found[-1].name != lake.release:
                return None  # an older release was asked for
            what = waiting(live, found[-1])
            return f"{what}: `gradelake build` brings them in." if what else _empty(live)
    except (GradelakeError, duckdb.Error, OSError):
        return None


def _empty(lake: Lake) -> str | None:
    nothing = lake.nothing_ingested()
    return str(nothing) if nothing else None


def waiting(live: Lake, newest: publishing.Release) -> str | None:
    """The commits of data and edits of seeds that came after the newest release, in words."""
    built = changes.last_build(live)
    edited = seeds.edited_since(live.project, built.made_from) if built else []
    what = ["The lake has commits"] * bool(live.commits_of_data_since(newest.snapshot))
    what += [f"seeds/{name} has edits" for name in edited]
    return f"{', '.join(what)} that are not in release {newest.name}" if what else None
