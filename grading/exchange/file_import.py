"""One file of grades on its way into the lake, within one transaction, and what came of it."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from gradelake.grading.exchange.choices import Choices
from gradelake.grading.exchange.workbench import GRADE_COLUMNS
from gradelake.sql.common import files
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.hashes import text_sha256
from gradelake.sql.common.problems import reject
from gradelake.sql.lake.rows import types_of
from gradelake.sql.lake.transaction import Transaction

# kind of rows -> their raw table, and the columns that a reader states; of `grades` those that
# every grade of a file has, of `restored` what a lake exported
_KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "grades": ("grades", GRADE_COLUMNS[:10]),
    "restored": ("grades", GRADE_COLUMNS),
    "passages": ("passages", ("passage_id", "text", "text_sha256")),
    "judgments": ("judgments", ("query_id", "passage_id", "assessor", "relevance")),
    "rankings": ("run_entries", ("system", "query_id", "passage_id", "rank", "score")),
    "brought_along": ("brought_along", ("query_id", "part", "content", "place")),
}
_ROWS = 10_000  # put into one frame


# what the file held -> (of what, verb, what else is said)
NOTES = {
    "query_ids_converted": ("query ids", "are", "given as a number; taken as text"),
    "replies_no_bare_digit": ("replies", "are", "no bare digit 0-5 where a rating is asked for"),
    "marked_unlike_rated": (
        "items",
        "are",
        "marked correct but rated 0, or wrong but rated higher; the rating counts",
    ),
    "errors_without_item": ("errors", "name", "no item; left out"),
    "repeated_grades": ("grades", "are", "there twice; the first was kept"),
    "grades_in_lake_already": ("grades", "are", "in the lake from elsewhere; not replaced"),
    "grades_without_item": (
        "grades",
        "are",
        "of items that no bank of the collection has; coverage leaves them out until one does",
    ),
    "grades_on_its_word": (
        "grades",
        "are",
        "of graders that a lake ran itself, as the file says; they count as theirs, and `gradelake "
        "sql @imported_grades` says from where they are",
    ),
    "paragraphs_without_text": ("paragraphs", "have", "no text"),
    "other_text_in_file": ("paragraphs", "have", "another text than the first of that id"),
    "other_text_in_lake": ("passages", "have", "another text in the lake; that one was kept"),
    "judgments_left_out": ("judgments", "were", "left out; --assessor NAME takes them in"),
    "judgments_of_others": ("judgments", "are", "of other assessors; left out"),
    "judgments_contradicting": ("judgments", "repeat", "a pair; the highest was kept"),
    "rankings_left_out": ("ranking entries", "were", "left out; --systems takes them in"),
    "systems_of_graded_passages": (
        "systems",
        "have",
        "the file's passages alone: measures that look deeper, such as AP and R@100, are cut there",
    ),
    "systems_in_lake_already": ("systems of the file", "are", "in the lake; not replaced"),
    "systems_with_unusable_names": ("systems", "have", "a name that cannot be used; left out"),
    "other_importance": (
        "assignments",
        "are",
        "of a nugget that the rubric says is vital, and the file okay, or the other way round; the "
        "rubric counts",
    ),
    "assignments_not_in_file": (
        "assignments",
        "are",
        "not in the file, to nuggets of the rubric; they count as not held",
    ),
    "pairs_without_criterion": ("pairs", "have", "no criterion"),
}


@dataclass
class ImportedGrades:
    """What an import did. `snapshot` is None when the lake had all of it already.

    `graders` has a row per grader of the file: name, grader_id, target, and its grades here by
    status. `counts` are rows written, `seen` what the file held beside them.
    """

    collection: str
    file: str
    snapshot: int | None = None
    graders: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    unknown_queries: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 done; 3 some queries of the file are not in the lake and were left out."""
        return 3 if self.unknown_queries else 0

    def as_object(self) -> dict[str, Any]:
        about = {name: value for name, value in vars(self).items() if name != "counts"}
        return about | {"written": self.counts, "warnings": self.notes()}

    def notes(self) -> list[str]:
        """What a person should know of the file, a sentence each."""
        notes = [
            f"{counted(n, what, verb)} {rest}"
            for key, (what, verb, rest) in NOTES.items()
            if (n := self.seen.get(key))
        ]
        if self.unknown_queries:
            shown = ", ".join(self.unknown_queries[:5])
            more = " ..." if len(self.unknown_queries) > 5 else ""
            notes.append(
                f"{self.file}: {counted(len(self.unknown_queries), 'queries', 'are')} not in the "
                f"collection; left out: {shown}{more}"
            )
        return notes


class FileImport:
    """What a reader finds in a file: rows, some thousands at a time; graders, items and counts."""

    def __init__(
        self,
        transaction: Transaction,
        collection: str,
        path: Path,
        choices: Choices,
        of_format: str,
    ):
        self.transaction, self.lake = transaction, transaction.lake
        self.collection, self.choices = collection, choices
        self.path, self.shown = path, str(path)
        self.target = f"{collection}/grades/{choices.grader or choices.name or path.name}"
        if of_format == "assignments":  # a file is of one run
            self.target += f"/{path.name}"
        self.file_sha256 = files.sha256_of(path)
        self.queries = self.lake.query_texts(collection)
        # topics that came later let in what was left out before; what is brought along was, once
        content = [self.file_sha256, vars(choices), list(self.queries), "as it came"]
        self.sha256 = text_sha256(json.dumps(content))
        self.done = ImportedGrades(collection, self.shown)
        self.seen = self.done.seen
        self.now = utc_now()
        self.graders: dict[str, dict[str, Any]] = {}  # rows of raw.graders, by grader_id
        # graders whose scale their grades tell: from 0 to this or wider
        self.scale_at_least: dict[str, int] = {}
        self.items = pl.DataFrame()  # of the rubric that the file brings
        self.found_queries: dict[str, None] = {}  # of the collection
        self.unknown_queries: dict[str, None] = {}
        self.staged = {
            table: transaction.staged(table)
            for table in ("grades", "passages", "run_entries", "brought_along")
        }
        table, columns = _KINDS["judgments"]  # the assessor may be null: the workbench names none
        self.staged[table] = transaction.staged(table, types_of(table, *columns))
        self._kept: dict[str, list[tuple]] = {kind: [] for kind in _KINDS}
        self._n_kept = 0

    # --- reading ----------------------------------------------------------------------------------

    def has_query(self, query_id: str) -> bool:
        """Whether the collection has a query; others are left out, and noted."""
        known = query_id in self.queries
        (self.found_queries if known else self.unknown_queries)[query_id] = None
        return known

    def put(self, kind: str, *row: Any) -> None:
        """A row of a kind, as `_KINDS` has its columns."""
        self._kept[kind].append(row)
        self._n_kept += 1
        if self._n_kept >= _ROWS:
            self._hand_over()

    def end(self) -> None:
        """All was read. Raises `Rejected` where none of the queries is known, or the file is not
        the one any more that was hashed."""
        if self.unknown_queries and not self.found_queries:
            first = ", ".join([*self.unknown_queries][:5])
            raise reject(
                self.shown,
                None,
                f"none of its queries is in the collection ({first} ...)",
                "Is this the collection that was graded? Ingest its topics first.",
            )
        self._hand_over()
        files.require_same(self.path, self.shown, self.file_sha256)
        self.done.unknown_queries = [*self.unknown_queries]

    def _hand_over(self) -> None:
        constants = {
            "collection": self.collection,
            "run_id": self.transaction.run_id,
            "graded_at": self.now,
            "origin": "corpus",
            "target": self.target,
        }
        for kind, rows in self._kept.items():
            if rows:  # columns first: making a frame from many rows is slow
                table, columns = _KINDS[kind]
                values = dict(zip(columns, zip(*rows, strict=True), strict=True))
                frame = pl.DataFrame(values, schema=types_of(table, *columns))
                others = {name: pl.lit(constants[name]) for name in constants.keys() - columns}
                self.staged[table].add(frame.with_columns(**others))
                rows.clear()
        self._n_kept = 0

    # --- writing ----------------------------------------------------------------------------------

    def count(self, what: str, n: int) -> int:
        """Note how many rows were written, and return that."""
        if n:
            self.done.counts[what] = self.done.counts.get(what, 0) + n
        return n

    def insert(self, table: str, frame: pl.DataFrame, **constants: Any) -> int:
        """Append rows of the collection to a raw table, and count them. Returns how many."""
        n = self.transaction.insert(table, frame, collection=self.collection, **constants)
        return self.count(table, n)

    def insert_from(self, table: str, query: str, *parameters: Any) -> int:
        """Append what a query finds to a raw table, and count it. Returns how many rows."""
        return self.count(table, self.transaction.insert_from(table, query, *parameters))
