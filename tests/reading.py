"""Lakes that are opened for one query alone: `published(folder).rows("select ...")`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake


class Reading:
    """Has the methods of a lake that ask; each opens the lake and closes it."""

    def __init__(self, open_lake: Callable[[], Lake]):
        self._open_lake = open_lake

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def ask(*parameters: Any, **named: Any) -> Any:
            with self._open_lake() as lake:
                return getattr(lake, method)(*parameters, **named)

        return ask


def live(folder: Path) -> Reading:
    """The lake as it stands."""
    return Reading(lambda: Lake.live(Project.find(folder)))


def published(folder: Path, release: str | None = None) -> Reading:
    """A release, the newest unless it is named."""
    return Reading(lambda: Lake.published(Project.find(folder), release))
