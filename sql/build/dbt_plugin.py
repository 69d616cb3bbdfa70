"""Gives dbt its connection to the lake: dbt-duckdb calls this plug-in (see profiles.yml).

All that a run of dbt writes is one transaction. dbt-duckdb would open a cursor for each model, and
a DuckDB cursor has a transaction of its own; and it would commit at each model, which costs more
than most models do, and leaves half a build to who looks in between.
"""

import atexit
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import duckdb
from dbt.adapters.duckdb.environments.local import DuckDBCursorWrapper, LocalEnvironment
from dbt.adapters.duckdb.plugins import BasePlugin
from dbt.flags import get_flags
from dbt_common.exceptions import DbtRuntimeError

from gradelake.sql.build import changes, seeds
from gradelake.sql.common.errors import BadInput, GradelakeError
from gradelake.sql.common.project import Project
from gradelake.sql.lake import connection, extensions
from gradelake.sql.lake.connection import literal, quote
from gradelake.sql.releases import publishing

READ_RELEASE = "GRADELAKE_DBT_READS"  # names a release: dbt then only reads, and takes no lock
_open = ExitStack()  # the writer's lock, held until dbt's process ends
atexit.register(_open.close)


@contextmanager
def _errors_are_dbts() -> Iterator[None]:
    """dbt prints its own errors as a sentence, and any other with a stack trace."""
    try:
        yield
    except GradelakeError as error:
        raise DbtRuntimeError(str(error)) from None


def _refuse_what_would_harm() -> None:
    flags = get_flags()
    if getattr(flags, "EMPTY", False):
        raise BadInput(
            "--empty would write tables without rows, and end every edit in the rubric's history",
            "Leave it out; `dbt compile` checks models without building them.",
        )
    if (getattr(flags, "THREADS", None) or 1) > 1:
        raise BadInput(
            "dbt has one connection to the lake, and so one thread", "Leave --threads out."
        )
    if "retry" in flags.INVOCATION_COMMAND.split():
        raise BadInput(
            "dbt retry runs what failed, and takes the rest of the failed run for built; nothing "
            "of it was kept",
            "Give the command that failed again, whole.",
        )


def _is_whole() -> bool:
    """Whether dbt makes all that a build makes."""
    flags = get_flags()
    chosen = ("SELECT", "EXCLUDE", "RESOURCE_TYPES", "DEFER")
    return (
        flags.WHICH == "build"
        and not any(getattr(flags, name, None) for name in chosen)
        and getattr(flags, "SELECTOR", None) in (None, "everything")
        and {*getattr(flags, "EXCLUDE_RESOURCE_TYPES", ())} <= {"unit_test", "exposure"}
    )


class Plugin(BasePlugin):
    """Attaches the project's lake for writing, under the writer's lock, and gathers its seeds; or
    attaches a release of it."""

    @_errors_are_dbts()
    def initialize(self, plugin_config: dict) -> None:
        _refuse_what_would_harm()
        self.project = Project.find(plugin_config.get("config"))
        assert self.creds is not None  # dbt-duckdb gives every plug-in the profile's
        self.creds.attach = None  # declared in the profile for dbt's eyes; opened below

    def update_connection_config(self, creds, config: dict) -> None:
        config.update(connection.CONNECTION_SETTINGS)

    @_errors_are_dbts()
    def configure_connection(self, conn) -> None:
        connection.draw_no_bars(conn)
        connection.require_lake(self.project)
        if release := os.environ.get(READ_RELEASE):
            extensions.load(conn, "ducklake")
            publishing.attach_release(conn, self.project, release)
            return
        _open.enter_context(connection.write_lock(self.project, "dbt"))
        extensions.load(conn, "ducklake")
        connection.attach(conn, self.project, read_only=False)
        gathered = quote(literal(seeds.gather(self.project)))
        conn.execute(f"set variable seeds_folder = {gathered}")
        connection.join_as_written(conn)
        made_from = json.dumps(changes.made_from(self.project)) if _is_whole() else ""
        conn.execute(f"set variable made_from = {quote(made_from)}")
        conn.execute("begin")  # macros/one_transaction.sql commits
        connection.ask_on_one_connection(conn, self.project)


class _Cursor(DuckDBCursorWrapper):
    """Leaves the transaction open where dbt would begin or commit one of its own."""

    def execute(self, sql, bindings=None):
        return self if sql in ("BEGIN", "COMMIT") else super().execute(sql, bindings)


class _Handle:
    """The one connection, however often dbt opens, closes or rolls back one of its own."""

    def __init__(self, conn: duckdb.DuckDBPyConnection):
        self._cursor = _Cursor(conn)

    def cursor(self) -> _Cursor:
        return self._cursor

    def close(self) -> None: ...

    def rollback(self) -> None: ...


def _handle(self: LocalEnvironment) -> _Handle:
    with self.lock:
        conn = self.conn or self.initialize_db(self.creds, self._plugins)
        self.conn = conn
        return _Handle(conn)


LocalEnvironment.handle = _handle  # type: ignore[method-assign]
