"""One file of grades on its way into the lake, within one transaction."""

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl

from gradelake.grading.exchange.choices import Choices
from gradelake.grading.exchange.imported import Imported
from gradelake.grading.exchange.workbench import Rows
from gradelake.sql.common import files
from gradelake.sql.lake.transaction import Transaction


class FileImport:
    """Where a file's grades and what comes with them go, and what was written so far."""

    def __init__(
        self,
        transaction: Transaction,
        collection: str,
        path: Path,
        choices: Choices,
        done: Imported,
    ):
        self.transaction, self.lake = transaction, transaction.lake
        self.collection, self.choices, self.done = collection, choices, done
        self.name = path.name
        self.target = f"{collection}/grades/{choices.grader or choices.name or path.name}"
        if choices.format_of(path, str(path)) == "assignments":  # a file is of one run
            self.target += f"/{path.name}"
        self.file_sha256 = files.sha256_of(path)
        self.rows = Rows(transaction, collection, self.target)
        texts = "select query_id, text from lake.raw.queries where collection = ? order by query_id"
        self.queries = dict(self.lake.rows(texts, collection))
        # topics that came later let in what was left out before; what is brought along was, once
        content = [self.file_sha256, vars(choices), list(self.queries), "brought along"]
        self.sha256 = hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def count(self, what: str, n: int) -> None:
        if n:
            self.done.counts[what] = self.done.counts.get(what, 0) + n

    def insert(self, table: str, frame: pl.DataFrame, **constants: Any) -> int:
        """Append rows of the collection to a raw table, and count them. Returns how many."""
        columns = {"collection": self.collection, **constants}
        rows = frame.with_columns(pl.lit(value).alias(name) for name, value in columns.items())
        n_rows = self.transaction.insert(table, rows)
        self.count(table, n_rows)
        return n_rows

    def insert_from(self, table: str, query: str, *parameters: Any) -> int:
        """Append what a query finds to a raw table, and count it. Returns how many rows."""
        n_rows = self.transaction.insert_from(table, query, *parameters)
        self.count(table, n_rows)
        return n_rows
