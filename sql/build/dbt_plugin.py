"""Gives dbt its connection to the lake: dbt-duckdb calls this plug-in (see profiles.yml)."""

import atexit
import os
from contextlib import ExitStack

from dbt.adapters.duckdb.plugins import BasePlugin

from gradelake.sql.build import seeds
from gradelake.sql.common.project import Project
from gradelake.sql.lake import connection, extensions
from gradelake.sql.releases import releases

READ_RELEASE = "GRADELAKE_DBT_READS"  # names a release: dbt then only reads, and takes no lock
_open = ExitStack()  # the writer's lock, held until dbt's process ends or `release` is called
atexit.register(_open.close)


class Plugin(BasePlugin):
    """Attaches the project's lake for writing, under the writer's lock, and gathers its seeds; or
    attaches a release of it."""

    def initialize(self, plugin_config: dict) -> None:
        self.project = Project.find(plugin_config.get("config"))
        assert self.creds is not None  # dbt-duckdb gives every plug-in the profile's
        self.creds.attach = None  # declared in the profile for dbt's eyes; opened below
        self.seeds_folder: str | None = None  # of what reads a release, nothing is built

    def update_connection_config(self, creds, config: dict) -> None:
        config.update(connection.CONNECTION_SETTINGS)

    def configure_connection(self, conn) -> None:
        connection.require_lake(self.project)
        if release := os.environ.get(READ_RELEASE):
            extensions.load(conn, "ducklake")
            releases.attach_release(conn, self.project, release)
            return
        _open.enter_context(connection.write_lock(self.project, "dbt"))
        extensions.load(conn, "ducklake")
        connection.attach(conn, self.project, read_only=False)
        self.seeds_folder = str(seeds.gather(self.project))

    def configure_cursor(self, cursor) -> None:
        connection.draw_no_bars(cursor)
        if self.seeds_folder:
            cursor.execute("set variable seeds_folder = ?", [self.seeds_folder])


def release() -> None:
    """Let go of the lock that dbt's connection took in this process."""
    _open.close()
