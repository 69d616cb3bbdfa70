"""What one command writes: rows, ledger and message, committed together or not at all."""

import getpass
import json
import os
import shutil
import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.lake.connection import NAME, execute, literal, little_memory, quote
from gradelake.sql.lake.raw_tables import raw_tables
from gradelake.sql.lake.rows import contract

if TYPE_CHECKING:  # polars takes a while to import; readers do without
    import polars as pl

    from gradelake.sql.lake.staged import Staged


NIGHT = "GRADELAKE_NIGHT"  # environment: the night that a command is a step of
# what a commit does, in its extra_info; one without a kind was not made by Gradelake, and may have
# done anything
Kind = Literal[
    "ingest",
    "import",
    "system",
    "grade",
    "generate",
    "distil",
    "review",
    "copy",
    "build",
    "migration",
    "nightly",
    "release",
    "tidy",
]
NO_DATA: tuple[Kind, ...] = ("build", "migration", "nightly", "release", "tidy")
CHUNK = "chunk/"  # what targets of graded chunks begin with in the ledger


# for whom a server is at work
acts_for: ContextVar[str | None] = ContextVar("acts_for", default=None)


def author() -> str:
    """Who commits: for whom a server does, or the user's name, as the system knows it."""
    try:
        return acts_for.get() or getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


class Transaction:
    """What one command writes to an open `Lake`. Handed out by `Lake.transaction`."""

    def __init__(self, lake: Any, kind: Kind, what: str):
        """`lake`: an open `Lake`, whose module imports this one."""
        self.lake = lake
        self.kind = kind
        self.command = f"{kind} {what}".rstrip()
        self.run_id = uuid.uuid4().hex
        self.started_at = utc_now()
        self.dirty = False
        self.counts: dict[str, int] = {}
        self.extra: dict[str, Any] = {}
        self._ledger: dict[str, str] | None = None
        self._entries: dict[str, tuple | None] = {}
        self._chunks: list[tuple] = []
        self._staging: Path | None = None
        self._little = ExitStack()

    @property
    def ledger(self) -> dict[str, str]:
        """target -> hash of what it holds, read once per transaction; chunks are left out."""
        if self._ledger is None:
            self._ledger = dict(
                self.lake.rows(
                    f"select target, sha256 from {NAME}.raw.ledger "
                    f"where not starts_with(target, '{CHUNK}')"
                )
            )
        return self._ledger

    def recorded_chunks(self, chunk_ids: list[str]) -> set[str]:
        """The chunks of grades that are in the lake already, of these."""
        rows = self.lake.rows(
            f"select target from {NAME}.raw.ledger where target in (select unnest(?))",
            [CHUNK + chunk_id for chunk_id in chunk_ids],
        )
        return {target.removeprefix(CHUNK) for (target,) in rows}

    def record_chunk(self, chunk_id: str, sha256: str, n_rows: int) -> None:
        """Enter a chunk of grades in the ledger; it is never replaced."""
        self.dirty = True
        target = CHUNK + chunk_id
        self._chunks.append((target, sha256, n_rows, self.run_id, utc_now()))

    def recorded(self, target: str) -> str | None:
        """The hash of what was last written to a target, or None."""
        return self.ledger.get(target)

    def record(self, target: str, sha256: str, n_rows: int) -> None:
        """Enter in the ledger what a target now holds; written with the commit."""
        self.dirty = True
        self.ledger[target] = sha256
        self._entries[target] = (target, sha256, n_rows, self.run_id, utc_now())

    def forget(self, target: str) -> None:
        """Strike a target from the ledger: what it held is gone, and may come again."""
        if self.ledger.pop(target, None):
            self.dirty = True
            self._entries[target] = None

    def run(self, statement: str, *parameters: Any) -> None:
        """Execute a writing statement; `{lake}` in it is the catalog's name."""
        self.dirty = True
        execute(self.lake.connection, statement.format(lake=NAME), list(parameters))

    def delete(self, table: str, **key: str | list[str]) -> None:
        """Delete the rows of a raw table that have these column values (a list: any of them)."""
        where = " and ".join(
            f"{column} in (select unnest(?))" if isinstance(value, list) else f"{column} = ?"
            for column, value in key.items()
        )
        self.run(f"delete from {{lake}}.raw.{table} where {where}", *key.values())

    def delete_keys_of(self, frame: str, table: str) -> None:
        """Delete the rows of a raw table whose key a frame has that is registered by this name."""
        key = raw_tables()[table].key
        same = " and ".join(f"{table}.{column} = {frame}.{column}" for column in key)
        self.run(f"delete from {{lake}}.raw.{table} using {frame} where {same}")

    def insert(
        self, table: str, rows: "pl.DataFrame | list[dict[str, Any]]", **constants: Any
    ) -> int:
        """Append rows to a raw table, by column name. Returns how many. A column that may be null
        can be left out, or have no type where all of it is. `constants`: the same in every row.

        The frame is checked against the table's contract first; `BadRows` here means that
        an importer let something through that it should have reported.
        """
        from polars import DataFrame, Null, lit, selectors

        if isinstance(rows, list):
            rows = DataFrame(rows, infer_schema_length=None)
        rows = rows.with_columns(**{name: lit(value) for name, value in constants.items()})
        rows = contract(table).validate(rows.drop(selectors.by_dtype(Null)))
        return self.insert_checked(table, rows)

    def insert_checked(self, table: str, rows: "pl.DataFrame") -> int:
        """Append rows that were validated against the table's contract already."""
        if rows.height:  # by way of a file: DuckDB takes a third of a second to import pyarrow
            file = self._staging_folder() / f"{uuid.uuid4().hex}.parquet"
            rows.write_parquet(file, compression="lz4")
            content = f"read_parquet({quote(literal(file))}, hive_partitioning = false)"
            self.insert_from(table, f"select * from {content}")
        return rows.height

    def staged(self, table: str, schema: "Mapping[str, Any] | None" = None) -> "Staged":
        """Rows that are too many to be held, on their way into a raw table, or of a `schema`."""
        from gradelake.sql.lake.staged import Staged

        self._little.enter_context(little_memory(self.lake.connection))
        return Staged(self.lake.connection, self._staging_folder() / table, table, schema)

    def _staging_folder(self) -> Path:
        if not self._staging:
            staging = self.lake.project.lake_path / "staging"
            shutil.rmtree(staging, ignore_errors=True)  # left by one that was killed
            # a new path each time: DuckDB may have kept pages of a file that had the same
            self._staging = staging / uuid.uuid4().hex
            self._staging.mkdir(parents=True)
        return self._staging

    def insert_from(self, table: str, query: str, *parameters: Any) -> int:
        """Append what a query finds to a raw table, by column name. Returns how many rows."""
        self.dirty = True
        statement = f"insert into {NAME}.raw.{table} by name {query}"
        (row,) = execute(self.lake.connection, statement, list(parameters)).fetchall()
        return row[0]

    def clean_up(self) -> None:
        """Remove what was staged."""
        self._little.close()
        if self._staging:
            shutil.rmtree(self._staging.parent, ignore_errors=True)

    def say(self, **counts: int) -> None:
        """Announce what was written; the counts become the commit's message."""
        for what, n in counts.items():
            self.counts[what] = self.counts.get(what, 0) + n

    def finish_run(
        self, arguments: list[str], state: str = "done", error: str | None = None
    ) -> None:
        """Add this command's row to `raw.pipeline_runs`; with a build's counts is its release."""
        counts = self.counts | {key: self.extra[key] for key in ("release",) if key in self.extra}
        self.run(
            "insert into {lake}.raw.pipeline_runs values (?, ?, ?, ?, ?, ?, ?, ?)",
            self.run_id,
            self.command,
            json.dumps(arguments),
            state,
            json.dumps(counts),
            error,
            self.started_at,
            utc_now(),
        )

    def finish(self) -> None:
        """Write the ledger and the commit's message."""
        if targets := list(self._entries):
            self.run("delete from {lake}.raw.ledger where target in (select unnest(?))", targets)
        if entries := [*filter(None, self._entries.values()), *self._chunks]:
            places = ", ".join(["(?, ?, ?, ?, ?)"] * len(entries))
            values = [value for entry in entries for value in entry]
            self.run(f"insert into {{lake}}.raw.ledger values {places}", *values)
        what = ", ".join(counted(n, name.replace("_", " ")) for name, n in self.counts.items() if n)
        message = f"{self.command}: {what}" if what else self.command
        night = {"night": os.environ[NIGHT]} if os.environ.get(NIGHT) else {}
        extra = json.dumps({"kind": self.kind, "run_id": self.run_id, **night, **self.extra})
        self.lake.connection.execute(
            f"call {NAME}.set_commit_message({quote(author())}, {quote(message)}, "
            f"extra_info => {quote(extra)})"
        )
