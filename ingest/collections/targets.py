"""Where inputs land: each is a target with a hash in the ledger, replaced whole or left alone."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import polars as pl

from gradelake.ingest.collections import datasets
from gradelake.ingest.collections.at_work import AtWork
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.inbox import Inbox
from gradelake.ingest.collections.rules import Broken, print_broken
from gradelake.ingest.mapping.form import settings_of
from gradelake.ingest.mapping.queries import note_of_left_out, of_known_queries
from gradelake.sql.common import console, files
from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import (
    REPAIR,
    SHOWN,
    BadRows,
    Problems,
    Rejected,
    from_contract,
    named,
    reject,
)
from gradelake.sql.lake.keys import KEYS
from gradelake.sql.lake.rows import contract, types_of
from gradelake.sql.lake.staged import Staged
from gradelake.sql.lake.transaction import Transaction

T = TypeVar("T", bound=Iterable[Any])


@dataclass
class Ingested:
    """What an ingest did: rows written by kind, inputs left alone, and what was refused."""

    collection: str
    counts: dict[str, int] = field(default_factory=dict)
    unchanged: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)  # rules
    snapshot: int | None = None
    inbox: Inbox = field(default_factory=Inbox)
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """0 done; 2 nothing landed because of bad input; 3 some of it was refused."""
        if not self.rejected:
            return 0
        return 3 if self.counts or self.unchanged else 2

    def print_faults(self) -> None:
        for rejected in self.rejected:
            for line in rejected.lines():
                console.warn(line)
        print_broken(self.broken, SHOWN)
        for warning in self.warnings:
            console.warn(f"note: {warning}")

    def print(self) -> None:
        self.print_faults()
        for became, shown in self.inbox.as_object().items():
            if shown:
                console.say(f"inbox: {became} {', '.join(map(named, shown))}")
        if self.counts:
            what = ", ".join(counted(n, kind.replace("_", " ")) for kind, n in self.counts.items())
            console.say(f"{self.collection}: wrote {what} in {console.duration(self.seconds)}")
            if self.unchanged:
                console.say(f"{counted(self.unchanged, 'inputs', 'were')} unchanged")
        elif self.unchanged:
            unchanged = f"{counted(self.unchanged, 'inputs')} unchanged"
            console.say(f"{self.collection}: nothing new ({unchanged})")
        if self.rejected:
            landed = "the rest landed" if self.exit_code == 3 else "nothing landed"
            console.warn(f"{counted(len(self.rejected), 'inputs')} rejected; {landed}")
        if self.counts:
            console.hint("next: `gradelake build` brings it into the marts")

    def as_object(self) -> dict[str, Any]:
        return {
            "collection": self.collection,
            "written": self.counts,
            "unchanged": self.unchanged,
            "snapshot": self.snapshot,
            "seconds": round(self.seconds, 3),
            "inbox": self.inbox.as_object(),
            "warnings": self.warnings,
            "broken": [each._asdict() for each in self.broken],
            "rejected": [
                {
                    "file": rejected.file,
                    "problems": [vars(problem) for problem in rejected.problems],
                    "n_problems": rejected.total,
                    "what_to_do": rejected.hint,
                }
                for rejected in self.rejected
            ],
        }


class Targets:
    """One collection's targets within one transaction, and the account of what happened to them."""

    def __init__(self, transaction: Transaction, collection: Collection, outcome: Ingested):
        self.transaction = transaction
        self.collection = collection
        self.outcome = outcome
        self.name = collection.name
        self.dataset = datasets.load(collection)
        self.dataset_id = collection.ir_dataset or ""
        self.at_work = AtWork(transaction.lake.project, collection)
        self.query_ids: set[str] = set()  # known once the topics are in
        self._left_out: dict[str, Counter[str]] = {}  # file -> lines of each unknown query

    def guarded(self, step: Callable[..., None], *arguments: Any) -> None:
        """Run a step that raises `Rejected` before it writes anything."""
        try:
            step(*arguments)
        except Rejected as rejected:
            self.outcome.rejected.append(rejected)

    def target(self, kind: str) -> str:
        """Name of a target in the ledger."""
        return f"{self.name}/{kind}"

    def changed(self, target: str, sha256: str) -> bool:
        """Whether a target would get other content than it has."""
        if self.transaction.recorded(target) == sha256:
            self.outcome.unchanged += 1
            return False
        return True

    def written(self, what: str, target: str, sha256: str, n_rows: int) -> None:
        """Enter a target's new content in the ledger and in the account."""
        self.transaction.record(target, sha256, n_rows)
        self.count(what, n_rows)

    def count(self, what: str, n: int) -> None:
        """Add to the account of rows written."""
        if n:
            self.outcome.counts[what] = self.outcome.counts.get(what, 0) + n

    def known(self, table: str, column: str, **others: str) -> set[str]:
        """The values a raw table has in a column, for this collection; `others`: in rows where
        these columns have these values."""
        where = "".join(f" and {other} = ${other}" for other in others)
        query = f"select distinct {column} from lake.raw.{table} where collection = $collection"
        return set(self.transaction.lake.column(query + where, collection=self.name, **others))

    def insert(self, table: str, rows: pl.DataFrame, **constants: Any) -> int:
        """Append rows of the collection, with other constants, to a table. Returns how many."""
        return self.transaction.insert(table, rows, collection=self.name, **constants)

    def from_dataset(self, what: str, records: Callable[[], Iterable[Any]]) -> Iterator[Any]:
        return datasets.read(self.dataset_id, what, records)

    def file_hash(self, shown: str) -> str:
        """Hash of one of the collection's files, and of what settings say of its table. Raises
        `Rejected` when it cannot be read."""
        self.at_work.hashing(shown)
        try:
            sha256 = files.sha256_of(self.collection.path(shown))
            settings = json.dumps(settings_of(shown), ensure_ascii=False, separators=(",", ":"))
            return hash_of((sha256, settings)) if settings_of(shown) else sha256
        except OSError as error:
            setting = self.collection.setting_of(shown)
            named = f"[collections.{self.name}] {setting} names it. " if setting else ""
            raise reject(
                shown,
                None,
                f"cannot be read: {error.strerror}",
                f"{named}Paths are relative to {self.collection.folder}.",
            ) from error

    def read(self, reader: Callable[..., T], shown: str) -> T:
        """What a reader makes of one of the collection's files. Raises `Rejected`, too, for a file
        that kills what reads it, and one that is not the one any more that was hashed."""
        read = partial(reader, self.collection.path(shown), shown)
        self.at_work.check(shown, read)
        with self.at_work.reading(shown):
            return read()

    def replace(
        self, table: str, frame: pl.DataFrame, shown: str, target: str, sha256: str, **part: str
    ) -> None:
        """Put these rows in the place of the target's old ones.

        `part` names the target within its table. Raises `Rejected`, before anything is written,
        for rows that break the table's contract.
        """
        rows = self.checked(table, frame, shown, **part)
        if self.transaction.recorded(target):
            self.transaction.delete(table, collection=self.name, **part)
        self.written(table, target, sha256, self.transaction.insert_checked(table, rows))

    def checked(self, table: str, frame: pl.DataFrame, shown: str, **part: Any) -> pl.DataFrame:
        """Rows ready to insert. Raises `Rejected` for those that break the table's contract.

        The frame may have the rows' lines in a column `line`; else they are counted.
        """
        part = {"collection": self.name, **part}
        rows = frame.with_columns(**{column: pl.lit(value) for column, value in part.items()})
        if "line" not in rows.columns:
            rows = rows.with_row_index("line", offset=1)
        try:
            return contract(table).validate(rows.drop("line"))
        except BadRows as error:
            name_row = [column for column in KEYS[table] if column not in part]
            raise from_contract(error, rows, shown, KEYS[table], name_row) from error

    def of_known_queries(self, frame: pl.DataFrame, shown: str) -> pl.DataFrame:
        """Rows of the collection's topics. The others are left out and counted, or refused by
        `Rejected`, as `unknown_queries` says."""
        leave_out = self.collection.unknown_queries == "leave out"
        lake, known = self.transaction.lake, self.query_ids
        frame, left = of_known_queries(lake, self.name, known, frame, shown, leave_out)
        if left:
            self._left_out.setdefault(shown, Counter()).update(left)
        return frame

    def require_some(self, n_rows: int, shown: str) -> None:
        """Say what `of_known_queries` left out of a file. Raises `Rejected` where that was all."""
        if left := self._left_out.pop(shown, None):
            self.outcome.warnings.append(note_of_left_out(left, n_rows, shown, self.name))

    def staged(self, table: str, *part: str) -> Staged:
        """A raw table's rows on their way, too many to be held, each with its line in `line`;
        `part`: the columns that `stage` names."""
        few = dict.fromkeys(("collection", *part), pl.Categorical)
        return self.transaction.staged(table, {**types_of(table), **few, "line": pl.Int64})

    def stage(self, staged: Staged, frame: pl.DataFrame, shown: str, **part: str) -> None:
        """Add rows, whose lines are in `line`, to others. Raises `Rejected` as `checked` does."""
        rows = self.checked(staged.table, frame, shown, **part)
        few = {name: pl.col(name).cast(pl.Categorical) for name in ("collection", *part)}
        staged.add(rows.with_columns(frame["line"], **few))

    def require_no_repeats(
        self, staged: Staged, shown: str, differ_in: str = "line", **part: str
    ) -> None:
        """Raise `Rejected` for rows that break the table's key, of those in which columns have
        these values; only where they differ in a column."""
        key = [column for column in KEYS[staged.table][1:] if column not in part]
        problems = Problems(shown, REPAIR)
        for *values, line, first in staged.repeats(key, differ_in, **part):
            pair = ", ".join(
                f"{column} {value!r}" for column, value in zip(key, values, strict=True)
            )
            problems.add(line, f"{pair} is listed twice (first on line {first})")
        problems.raise_if_any()


def hash_of(value: Any) -> str:
    """Hash of parsed content, for inputs that are not one file."""
    return hashlib.sha256(repr(value).encode()).hexdigest()
