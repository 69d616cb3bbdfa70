"""Open releases that all requests read, each through a cursor of its own."""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import cursor_of, published_file
from gradelake.sql.lake.opening import Lake

_KEPT = 3  # releases that stay open


class Readers:
    """Gives requests the newest release, one by name, or the working catalog.

    What is read is of one state as long as a release is named; `release` of the lake says which.
    """

    def __init__(self, project: Project):
        self.project = project
        self._open: OrderedDict[str, Lake] = OrderedDict()
        self._newest: tuple[object, str] | None = None
        self._live: Lake | None = None
        self._lock = threading.Lock()

    @contextmanager
    def release(self, name: str | None = None) -> Iterator[Lake]:
        """A release (None: the newest). Raises `BadInput` where there is none of the name."""
        with self._lock:
            lake = self._opened(name)
            cursor = cursor_of(lake.connection)
        with Lake(self.project, cursor, lake.release) as own:
            cursor.execute("use lake.marts")
            yield own

    def newest(self) -> str | None:
        """The newest release; None where there is none."""
        try:
            with self.release() as lake:
                return lake.release
        except BadInput:
            return None

    @contextmanager
    def live(self) -> Iterator[Lake]:
        """The working catalog, as the last commit left it."""
        with self._lock:
            cursor = cursor_of(self._live_lake().connection)
        with Lake(self.project, cursor, None) as own:
            yield own

    def close(self) -> None:
        with self._lock:
            for lake in (*self._open.values(), *([self._live] if self._live else [])):
                lake.close()
            self._open.clear()
            self._live = None

    def _live_lake(self) -> Lake:
        if self._live is None:
            self._live = Lake.live(self.project)
            # requests have a thread each; with helpers besides, small queries of many people at
            # once take twice the work, and four times as long
            self._live.connection.execute("set threads = 1")
        return self._live

    def _opened(self, name: str | None) -> Lake:
        if name is None:
            seen = self._published()
            if self._newest is None or self._newest[0] != seen:
                lake = Lake.published(self.project)
                self._newest = (seen, self._keep(lake))
            name = self._newest[1]
        if name not in self._open:
            self._keep(Lake.published(self.project, name))
        self._open.move_to_end(name)
        return self._open[name]

    def _keep(self, lake: Lake) -> str:
        name = lake.release or ""
        if former := self._open.pop(name, None):
            former.close()
        self._open[name] = lake
        if len(self._open) > _KEPT:
            self._open.popitem(last=False)[1].close()  # its cursors go on until they are closed
        return name

    def _published(self) -> object:
        """What is another when another release is the newest."""
        if self.project.on_postgres:
            from gradelake.sql.releases import publishing

            return publishing.listed(self._live_lake().connection)[-1:]
        try:
            about = published_file(self.project).stat()
        except FileNotFoundError:
            return None
        return about.st_ino, about.st_mtime_ns
