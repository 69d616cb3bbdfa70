"""An open lake: what every room reads and writes through."""

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import duckdb

from gradelake.sql.common import files
from gradelake.sql.common.errors import BadInput, NotThere, WorkFailed
from gradelake.sql.common.project import Project, require_known
from gradelake.sql.lake import hashes
from gradelake.sql.lake.connection import NAME, attach, connect, execute, require_lake, write_lock
from gradelake.sql.lake.identity import LostCatalog
from gradelake.sql.lake.migrate import applied, migrate
from gradelake.sql.lake.transaction import NO_DATA, Kind, Transaction
from gradelake.sql.releases import data_files, publishing

if TYPE_CHECKING:
    import polars as pl


class Lake:
    """A connection to a lake. Open one with `writer`, `live` or `published`; close it after use."""

    def __init__(
        self, project: Project, connection: duckdb.DuckDBPyConnection, release: str | None
    ):
        self.project = project
        self.connection = connection
        self.release = release
        self.allows_files = False  # whether statements of people may do more than read it

    # --- opening ------------------------------------------------------------------------------

    @classmethod
    def create(cls, project: Project) -> "Lake":
        """Open for writing, making the lake first where there is none.

        Raises `BadInput` when its folder cannot be made.
        """
        try:
            project.lake_path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(
                f"{project.lake_path}: cannot be made: {error.strerror}",
                f"Choose another path in [lake] of {project.file}.",
            ) from error
        with write_lock(project, "gradelake init"):
            return cls._open_writer(project, create=True)

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
        lake = cls(project, connection, None)
        applied(lake)  # one that was made before 0.1.0 is refused
        return lake

    @classmethod
    def published(cls, project: Project, release: str | None = None) -> "Lake":
        """Open the newest release, or a named one: what a finished build left. Needs no lock.

        Raises `BadInput` when nothing is published yet or there is no release of that name.
        """
        require_lake(project)
        connection = connect()
        found = publishing.attach_release(connection, project, release)
        lake = cls(project, connection, found)
        applied(lake)  # one that was made before 0.1.0 is refused
        return lake

    @classmethod
    def _open_writer(cls, project: Project, create: bool = False) -> "Lake":
        connection = connect()
        attach(connection, project, read_only=False, create=create)
        files.limits = files.UnzipLimits(project.max_unzipped_gb, project.max_unzipped_ratio)
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

    def read_newest(self) -> None:
        """Read the newest release from now on, in the same connection."""
        self.connection.execute(f"use memory; detach {NAME}")
        self.release = publishing.attach_release(self.connection, self.project, None)
        self.connection.execute(f"use {NAME}.marts")

    def reopen(self) -> None:
        """Open the lake again, in a new connection: what was temporary in the old one is gone."""
        newest = Lake.published(self.project)
        self.connection.close()
        self.connection, self.release = newest.connection, newest.release

    @classmethod
    def reading(cls, project: Project, release: str | None, live: bool) -> "Lake":
        """What a command reads: a release (None: the newest), or with `live` the working catalog.

        Raises `BadInput` when both are asked for, or there is nothing to read.
        """
        if live and release:
            raise BadInput("--live and --release cannot be used together")
        return cls.live(project) if live else cls.published(project, release)

    @classmethod
    def readable(cls, project: Project) -> "Lake":
        """The working catalog, or, without the right to open it, the newest release, which knows
        what came before it. Raises `LostCatalog` where it is lost."""
        try:
            return cls.live(project)
        except LostCatalog:
            raise
        except WorkFailed:
            return cls.published(project)

    def rows(self, query: str, *parameters: Any, **named: Any) -> list[tuple]:
        """All rows of a query."""
        return execute(self.connection, query, named or list(parameters)).fetchall()

    def objects(self, query: str, *parameters: Any, **named: Any) -> list[dict[str, Any]]:
        """All rows of a query, a dictionary each."""
        found = execute(self.connection, query, named or list(parameters))
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def column(self, query: str, *parameters: Any, **named: Any) -> list[Any]:
        """First column of all rows."""
        return [row[0] for row in self.rows(query, *parameters, **named)]

    def value(self, query: str, *parameters: Any, **named: Any) -> Any:
        """First column of the first row, or None."""
        row = execute(self.connection, query, named or list(parameters)).fetchone()
        return row[0] if row else None

    def frame(self, query: str, *parameters: Any, **named: Any) -> "pl.DataFrame":
        """A query's result as a Polars frame."""
        return execute(self.connection, query, named or list(parameters)).pl()

    @contextmanager
    def registered(self, name: str, frame: "pl.DataFrame") -> Iterator[None]:
        """Inside, queries find a frame under this name."""
        self.connection.register(name, frame)
        try:
            yield
        finally:
            self.connection.unregister(name)

    def require_collection(self, name: str) -> None:
        """Raise `BadInput` for a collection that is not there."""
        known = self.column("select collection from lake.raw.collections")
        first = f"Bring one in: gradelake ingest {name}"
        require_known(name, known, f"the lake has no collection {name!r}", NotThere, first)

    def nothing_ingested(self) -> BadInput | None:
        """What to say of a lake that has no collection yet; None of any other."""
        if self.value("select exists (from lake.raw.collections)"):
            return None
        first = next(iter(self.project.collections), "NAME")
        return BadInput("the lake has no collection yet", f"Bring one in: gradelake ingest {first}")

    def query_ids(self, collection: str) -> set[str]:
        """The topics of a collection."""
        topics = f"select query_id from {NAME}.raw.queries where collection = ?"
        return set(self.column(topics, collection))

    def query_texts(self, collection: str) -> dict[str, str]:
        """The topics of a collection and their texts, in order of their ids."""
        topics = f"select query_id, text from {NAME}.raw.queries where collection = ?"
        return dict(self.rows(f"{topics} order by query_id", collection))

    def relevance(self, collection: str) -> tuple[int, int]:
        """The judgment from which a passage of a collection is relevant, and the highest one."""
        scale = f"select min_relevant, max_relevance from {NAME}.raw.collections"
        (both,) = self.rows(f"{scale} where collection = ?", collection)
        return both

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """All that is read inside is of one state of the lake, whoever writes meanwhile."""
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            self.connection.execute("ROLLBACK")

    def has_done(self, arguments: Sequence[str]) -> bool:
        """Whether just this command ended well before. What it was to take away is then no longer
        there, and what it was to make is: that is no mistake of who gives it again."""
        query = "select count(*) from lake.raw.pipeline_runs where arguments = ? and state = 'done'"
        return bool(self.value(query, json.dumps(list(arguments))))

    def newest_snapshot(self) -> int:
        """Version number of the last commit."""
        return self.value(f"select max(snapshot_id) from {NAME}.snapshots()")

    def commits_of_data_since(self, snapshot: int) -> int:
        """How many commits after a version brought data, or were not made by Gradelake."""
        return self.value(
            f"""
            select count(*)
            from {NAME}.snapshots()
            where
                snapshot_id > ?
                and coalesce(json_extract_string(commit_extra_info, '$.kind'), '')
                    not in (select unnest(?))
            """,
            snapshot,
            list(NO_DATA),
        )

    # --- writing ------------------------------------------------------------------------------

    def lock(self, purpose: str, wait: bool = True) -> AbstractContextManager[None]:
        """The writer's lock (see `lock`); a process that holds it passes through."""
        return write_lock(self.project, purpose, wait)

    @contextmanager
    def transaction(self, kind: Kind, what: str = "", wait: bool = True) -> Iterator[Transaction]:
        """Everything written inside is committed together, or not at all.

        The commit's message is its kind, what it was done to and what was announced with
        `Transaction.say`; `gradelake log` shows it. A transaction in which nothing was written
        leaves no trace. With `wait=False`, raises `WorkFailed` at once while another process
        writes.
        """
        transaction = Transaction(self, kind, what)
        with self.lock(transaction.command, wait):
            self.connection.execute("BEGIN")
            try:
                yield transaction
                if transaction.dirty:
                    transaction.finish()
                    self.connection.execute("COMMIT")
                    self._hash_what_is_new()
                else:
                    self.connection.execute("ROLLBACK")
            except BaseException:
                # after an interrupted or failed statement there may be nothing left to roll back
                with suppress(duckdb.Error):
                    self.connection.execute("ROLLBACK")
                raise
            finally:
                transaction.clean_up()

    def _hash_what_is_new(self) -> None:
        """The rows are safe already: what fails here, the next build does."""
        with suppress(duckdb.Error):
            self.connection.execute("BEGIN")  # one for all is a third cheaper
            try:
                hashes.record(self, data_files.newest(self.connection))
                hashes.record_inlined(self)
            finally:
                self.connection.execute("COMMIT")
