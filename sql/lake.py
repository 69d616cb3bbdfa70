"""The lake's one door: every connection to it is opened here, and nobody else writes an ATTACH."""

import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from sql import extensions
from sql.errors import BadInput, WorkFailed
from sql.lock import file_lock
from sql.project import Project

if TYPE_CHECKING:  # polars and pandera take half a second to import; readers need neither
    import polars as pl

NAME = "lake"  # the catalog's name in every connection
# An extension comes from its wheel or not at all: nothing is fetched behind the user's back.
CONNECTION_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
SCHEMAS = ("staging", "intermediate", "marts")
# DuckLake retries a commit that lost a race on PostgreSQL; 10, its default, is too few for many
# writers (measured: 357 of 360 with the default, 360 of 360 with 100).
POSTGRES_RETRIES = 100


def utc_now() -> datetime:
    """The time as the lake stores it: UTC without a zone, to the microsecond."""
    return datetime.now(UTC).replace(tzinfo=None)


def quote(text: str) -> str:
    """A SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


class Lake:
    """A connection to a lake. Open one with `writer`, `live` or `published`; close it after use."""

    def __init__(
        self, project: Project, connection: duckdb.DuckDBPyConnection, release: str | None
    ):
        self.project = project
        self.connection = connection
        self.release = release

    # --- opening ------------------------------------------------------------------------------

    @classmethod
    def create(cls, project: Project) -> "Lake":
        """Open for writing, making the lake first where there is none."""
        project.lake_path.mkdir(parents=True, exist_ok=True)
        with file_lock(lock_file(project), "gradelake init"):
            return cls._open_writer(project)

    @classmethod
    def writer(cls, project: Project) -> "Lake":
        """Open for writing and bring the raw schema up to date.

        Raises `BadInput` when there is no lake yet.
        """
        require_lake(project)
        return cls._open_writer(project)

    @classmethod
    def live(cls, project: Project) -> "Lake":
        """Open the working catalog for reading: the newest commit, perhaps a build half-way."""
        require_lake(project)
        connection = connect()
        attach(connection, project, read_only=True)
        return cls(project, connection, None)

    @classmethod
    def published(cls, project: Project, release: str | None = None) -> "Lake":
        """Open the newest release, or a named one: what a finished build left. Needs no lock.

        Raises `BadInput` when nothing is published yet or there is no release of that name.
        """
        from sql import releases

        require_lake(project)
        connection = connect()
        found = releases.attach_release(connection, project, release)
        return cls(project, connection, found)

    @classmethod
    def _open_writer(cls, project: Project) -> "Lake":
        from sql.migrate import migrate

        connection = connect()
        attach(connection, project, read_only=False)
        lake = cls(project, connection, None)
        migrate(lake)
        return lake

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> "Lake":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- reading ------------------------------------------------------------------------------

    def rows(self, query: str, *parameters: Any, **named: Any) -> list[tuple]:
        """All rows of a query."""
        return self.connection.execute(query, named or list(parameters) or None).fetchall()

    def value(self, query: str, *parameters: Any, **named: Any) -> Any:
        """First column of the first row, or None."""
        row = self.connection.execute(query, named or list(parameters) or None).fetchone()
        return row[0] if row else None

    def frame(self, query: str, *parameters: Any, **named: Any) -> "pl.DataFrame":
        """A query's result as a Polars frame."""
        return self.connection.execute(query, named or list(parameters) or None).pl()

    # --- writing ------------------------------------------------------------------------------

    @contextmanager
    def lock(self, purpose: str, wait: bool = True, build: bool = False) -> Iterator[None]:
        """The writer's lock (see `sql.lock`). On PostgreSQL only `build=True` queues."""
        if self.project.on_postgres and not build:
            yield
            return
        with build_lock(self.project, purpose, wait):
            yield

    @contextmanager
    def transaction(self, command: str) -> Iterator["Transaction"]:
        """Everything written inside is committed together, or not at all.

        The commit's message says what was announced with `Transaction.say`, and `gradelake log`
        shows it. A transaction in which nothing was written leaves no trace.
        """
        with self.lock(command):
            self.connection.execute("BEGIN")
            transaction = Transaction(self, command)
            try:
                yield transaction
                if transaction.dirty:
                    transaction.finish()
                    self.connection.execute("COMMIT")
                else:
                    self.connection.execute("ROLLBACK")
            except BaseException:
                # after an interrupted or failed statement there may be nothing left to roll back
                try:
                    self.connection.execute("ROLLBACK")
                except duckdb.Error:
                    pass
                raise


class Transaction:
    """What one command writes. Handed out by `Lake.transaction`."""

    def __init__(self, lake: Lake, command: str):
        self.lake = lake
        self.command = command
        self.run_id = uuid.uuid4().hex
        self.started_at = utc_now()
        self.dirty = False
        self.counts: dict[str, int] = {}
        self.extra: dict[str, Any] = {}
        self._ledger: dict[str, str] | None = None
        self._entries: dict[str, tuple] = {}

    @property
    def ledger(self) -> dict[str, str]:
        """target -> hash of what it holds, read once per transaction."""
        if self._ledger is None:
            self._ledger = dict(self.lake.rows(f"select target, sha256 from {NAME}.raw.ledger"))
        return self._ledger

    def recorded(self, target: str) -> str | None:
        """The hash of what was last written to a target, or None."""
        return self.ledger.get(target)

    def record(self, target: str, sha256: str, n_rows: int) -> None:
        """Enter in the ledger what a target now holds; written with the commit."""
        self.dirty = True
        self.ledger[target] = sha256
        self._entries[target] = (target, sha256, n_rows, self.run_id, utc_now())

    def _write_ledger(self) -> None:
        if self._entries:
            targets = list(self._entries)
            self.run("delete from {lake}.raw.ledger where target in (select unnest(?))", targets)
            places = ", ".join(["(?, ?, ?, ?, ?)"] * len(targets))
            values = [value for entry in self._entries.values() for value in entry]
            self.run(f"insert into {{lake}}.raw.ledger values {places}", *values)

    def run(self, statement: str, *parameters: Any) -> None:
        """Execute a writing statement; `{lake}` in it is the catalog's name."""
        self.dirty = True
        self.lake.connection.execute(statement.format(lake=NAME), list(parameters) or None)

    def delete(self, table: str, **key: str | list[str]) -> None:
        """Delete the rows of a raw table that have these column values (a list: any of them)."""
        where = " and ".join(
            f"{column} in (select unnest(?))" if isinstance(value, list) else f"{column} = ?"
            for column, value in key.items()
        )
        self.run(f"delete from {{lake}}.raw.{table} where {where}", *key.values())

    def insert(self, table: str, rows: "pl.DataFrame") -> int:
        """Append rows to a raw table, by column name. Returns how many.

        The frame is checked against the table's contract first; pandera's `SchemaErrors` here
        means that an importer let something through that it should have reported.
        """
        from sql.contracts import CONTRACTS

        rows = CONTRACTS[table].validate(rows, lazy=True)
        return self.insert_checked(table, rows)

    def insert_checked(self, table: str, rows: "pl.DataFrame") -> int:
        """Append rows that were validated against the table's contract already."""
        if rows.height:
            self.dirty = True
            connection = self.lake.connection
            connection.register("rows_to_insert", rows)
            try:
                connection.execute(
                    f"insert into {NAME}.raw.{table} by name select * from rows_to_insert"
                )
            finally:
                connection.unregister("rows_to_insert")
        return rows.height

    def say(self, **counts: int) -> None:
        """Announce what was written; the counts become the commit's message."""
        for what, n in counts.items():
            self.counts[what] = self.counts.get(what, 0) + n

    def finish_run(self, arguments: list[str], state: str = "done", error: str | None = None):
        """Add this command's row to `raw.pipeline_runs`."""
        self.run(
            "insert into {lake}.raw.pipeline_runs values (?, ?, ?, ?, ?, ?, ?, ?)",
            self.run_id, self.command, json.dumps(arguments), state, json.dumps(self.counts),
            error, self.started_at, utc_now(),
        )  # fmt: skip

    def finish(self) -> None:
        """Write the ledger and the commit's message."""
        self._write_ledger()
        what = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in self.counts.items() if n)
        message = f"{self.command}: {what}" if what else self.command
        extra = json.dumps({"run_id": self.run_id, **self.extra})
        self.lake.connection.execute(
            f"CALL {NAME}.set_commit_message(?, ?, extra_info => ?)", [author(), message, extra]
        )


def author() -> str:
    """Who commits: the user's name, as the system knows it."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


@contextmanager
def build_lock(project: Project, purpose: str, wait: bool = True) -> Iterator[None]:
    """One build at a time: the file lock, or PostgreSQL's advisory lock."""
    with ExitStack() as stack:
        if project.on_postgres:
            from sql.postgres import advisory_lock

            stack.enter_context(advisory_lock(project, wait))
        else:
            stack.enter_context(file_lock(lock_file(project), purpose, wait))
        yield


# --- places -------------------------------------------------------------------------------------


def catalog_file(project: Project) -> Path:
    return project.lake_path / "catalog.sqlite"


def lock_file(project: Project) -> Path:
    return project.lake_path / ".lock"


def data_path(project: Project) -> str:
    """Where the Parquet files are: absolute, because DuckLake resolves a relative path against
    the working directory; always passed at attach, so that a lake may be moved."""
    if project.data and re.match(r"[a-z0-9]+://", project.data):
        return project.data.rstrip("/") + "/"
    folder = project.file.parent / project.data if project.data else project.lake_path / "data"
    return f"{folder.resolve()}/"


def require_lake(project: Project) -> None:
    """Raise `BadInput` unless the lake was made before."""
    if project.on_postgres:
        return
    if (
        not catalog_file(project).is_file()
        and not (project.lake_path / "published.sqlite").is_file()
    ):
        raise no_lake(str(project.lake_path))


def no_lake(place: str) -> BadInput:
    return BadInput(
        f"{place}: no lake here yet", "`gradelake init` or `gradelake ingest` makes one."
    )


# --- connecting ---------------------------------------------------------------------------------


def connect() -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB that never asks the network for an extension."""
    connection = duckdb.connect(":memory:", config=dict(CONNECTION_SETTINGS))
    extensions.load(connection, "ducklake")
    return connection


def attach(
    connection: duckdb.DuckDBPyConnection,
    project: Project,
    *,
    read_only: bool,
    catalog: Path | None = None,
    snapshot: int | None = None,
) -> None:
    """ATTACH the project's lake as `lake`.

    `catalog` names another SQLite catalog over the same data (a release); `snapshot` pins a
    reader. Raises `WorkFailed` without showing connection strings, which may hold a password.
    """
    options = [f"DATA_PATH {quote(data_path(project))}", "OVERRIDE_DATA_PATH true"]
    if read_only:
        options.append("READ_ONLY")
    if snapshot is not None:
        options.append(f"SNAPSHOT_VERSION {snapshot:d}")
    if data_path(project).startswith("s3://"):
        extensions.load(connection, "httpfs")
        _use_s3_environment(connection)
    if project.on_postgres and catalog is None:
        extensions.load(connection, "postgres_scanner")
        connection.execute(f"SET ducklake_max_retry_count = {POSTGRES_RETRIES}")
        place = project.catalog
    elif project.catalog and catalog is None:
        raise BadInput(
            f"{project.file}: [lake] catalog must start with postgres:",
            "Leave it out for a SQLite catalog in the lake's folder.",
        )
    else:
        extensions.load(connection, "sqlite_scanner")
        place = f"sqlite:{catalog or catalog_file(project)}"
        if not read_only:
            options += ["META_JOURNAL_MODE 'WAL'", "META_BUSY_TIMEOUT 30000"]
    statement = f"ATTACH {quote('ducklake:' + place)} AS {NAME} ({', '.join(options)})"
    try:
        connection.execute(statement)
    except duckdb.Error as error:
        if "does not exist - and creating" in str(error):
            raise no_lake(_shown(project)) from None
        raise WorkFailed(
            f"the lake at {catalog or _shown(project)} cannot be opened: {_first_line(error)}",
            "Run `gradelake doctor` for details.",
        ) from None


def _use_s3_environment(connection: duckdb.DuckDBPyConnection) -> None:
    """S3 access from the standard AWS variables; nothing of it is stored."""
    env = os.environ
    parts = ["TYPE s3"]
    for option, variable in (
        ("KEY_ID", "AWS_ACCESS_KEY_ID"),
        ("SECRET", "AWS_SECRET_ACCESS_KEY"),
        ("SESSION_TOKEN", "AWS_SESSION_TOKEN"),
        ("REGION", "AWS_REGION"),
    ):
        if env.get(variable):
            parts.append(f"{option} {quote(env[variable])}")
    if endpoint := env.get("AWS_ENDPOINT_URL"):
        scheme, _, host = endpoint.rpartition("://")
        parts += [f"ENDPOINT {quote(host)}", "URL_STYLE 'path'"]
        parts.append(f"USE_SSL {str(scheme != 'http').lower()}")
    connection.execute(f"CREATE OR REPLACE SECRET gradelake ({', '.join(parts)})")


def _shown(project: Project) -> str:
    if not project.on_postgres:
        return str(catalog_file(project))
    return re.sub(r"(password=)\S+", r"\1***", project.catalog or "")


def _first_line(error: Exception) -> str:
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return re.sub(r"(password=)\S+|(://[^:/@\s]+:)[^@\s]+(?=@)", r"\1\2***", first)


def free_bytes(project: Project) -> int:
    """Free space where the lake is, in bytes."""
    return shutil.disk_usage(project.lake_path).free
