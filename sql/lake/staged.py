"""Rows on their way into the lake that need not fit into memory: they wait in Parquet files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from gradelake.sql.lake.connection import literal, quote
from gradelake.sql.lake.keys import repeated
from gradelake.sql.lake.rows import contract, types_of

ROWS, BYTES = 200_000, 200_000_000  # about as many are held
_AT_ONCE = 1000  # read and merged between two steps


class Staged:
    """Rows of one kind: `add` frames of them; SQL reads them all, in order, from `view`.

    The view has the columns of `schema`; `arrival`, a row's place among them, stands beside these.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        folder: Path,
        table: str,
        schema: Mapping[str, Any] | None = None,
    ):
        """`folder` is a new one. Without a `schema` the rows are those of a raw table, and are
        checked against its contract, but for what makes them unique."""
        self.table = table
        self._name = f"staged_{table}"
        self.n_rows = 0
        self._connection, self._folder = connection, folder
        self._contract = contract(table) if schema is None else None
        schema = types_of(table) if schema is None else schema
        self._none = pl.DataFrame(schema=dict(schema))
        self._held: list[pl.DataFrame] = [self._none]
        self._n_held = self._n_files = self._bytes_held = 0
        folder.mkdir(parents=True)
        self._write()
        files = quote(f"{literal(folder)}/*.parquet")
        connection.execute(
            f"create or replace temp view {self._name}_with_repeats as "
            "select * exclude (filename, file_row_number), (filename, file_row_number) as arrival "
            f"from read_parquet({files}, filename = true, file_row_number = true, "
            "hive_partitioning = false)"
        )
        self._show(f"from {self._name}_with_repeats")

    def _show(self, query: str) -> None:
        self._connection.execute(f"create or replace temp view {self._name} as {query}")

    @property
    def view(self) -> str:
        """The name of the view, which now shows all that was added."""
        self._write()
        return self._name

    def add(self, rows: pl.DataFrame) -> None:
        """Put rows behind the others. Columns that they lack are null."""
        self._held.append(rows)
        self._n_held += rows.height
        self.n_rows += rows.height
        self._bytes_held += int(rows.estimated_size())
        if self._n_held >= ROWS or self._bytes_held >= BYTES:
            self._write()

    def _write(self) -> None:
        if self._n_files and not self._n_held:
            return
        rows = pl.concat(self._held, how="diagonal_relaxed").select(self._none.columns)
        self._held, self._n_held, self._bytes_held = [self._none], 0, 0
        if self._contract and rows.height:
            rows = self._contract.validate(rows, unique=False)
        file = self._folder / f"{self._n_files:08}.parquet"
        rows.write_parquet(file, compression="uncompressed", statistics=False)  # read once
        self._n_files += 1

    def keep_first(self, *key: str) -> int:
        """Show only the first of the rows that are equal in `key`. Returns how many go."""
        columns = ", ".join(key)
        if not self._find_repeated(columns):
            return 0
        self._show(
            f"""
            from {self._name}_with_repeats where hash({columns}) not in (from {self._name}_repeated)
            union all
            from {self._name}_with_repeats where hash({columns}) in (from {self._name}_repeated)
            qualify row_number() over (partition by {columns} order by arrival) = 1
            """
        )
        return self.n_rows - self.count()

    def merge(self, column: str, merged: Callable[[list], Any], *key: str) -> None:
        """Show only the first of the rows that are equal in `key`, its `column` `merged` of all of
        theirs. No more than one key's rows, and some thousand others, are held."""
        columns = ", ".join(key)
        if not self._find_repeated(columns):
            return
        schema = self._none.schema
        rest = Staged(self._connection, self._folder / "merged", f"{self.table}_merged", schema)
        found = self._connection.execute(
            f"""
            select {", ".join(schema)} from {self._name}_with_repeats
            where hash({columns}) in (from {self._name}_repeated)
            order by {columns}, arrival
            """
        )
        rows = chain.from_iterable(iter(lambda: found.fetchmany(_AT_ONCE), []))
        names = list(schema)
        at, of_key = names.index(column), itemgetter(*map(names.index, key))

        def one_each() -> Iterator[tuple]:
            for _, group in groupby(rows, of_key):
                equal = list(group)
                value = merged([row[at] for row in equal])
                yield (*equal[0][:at], value, *equal[0][at + 1 :])

        some = one_each()
        while of_some := list(islice(some, _AT_ONCE)):
            rest.add(pl.DataFrame(of_some, schema=schema, orient="row"))
        self._show(
            f"""
            from {self._name}_with_repeats where hash({columns}) not in (from {self._name}_repeated)
            union all
            from {rest.view}
            """
        )

    def repeats(self, key: Sequence[str], differ_in: str = "line", **part: str) -> list[tuple]:
        """Rows that are equal in `key` to one before: (*key, line, line of the first), where such
        rows differ in a column. Of rows in which columns have the values of `part`; the schema has
        a column `line`."""
        columns = ", ".join(key)
        where = " and ".join(f"{name} = {quote(value)}" for name, value in part.items()) or "true"
        if not self._find_repeated(columns, where):
            return []
        return self._connection.execute(
            f"""
            select {columns}, line, min(line) over (partition by {columns}) as first_line
            from {self._name}_with_repeats
            where {where} and hash({columns}) in (from {self._name}_repeated)
            qualify
                line > first_line
                and min({differ_in}) over (partition by {columns})
                    != max({differ_in}) over (partition by {columns})
            order by line
            """
        ).fetchall()

    def _find_repeated(self, columns: str, where: str = "true") -> bool:
        """Make a table of the hashes that several keys have; whether there are any. No more has to
        be held of a key, as long as nothing is there twice."""
        self._write()
        found = repeated(columns, f"{self._name}_with_repeats where {where}")
        self._connection.execute(f"create or replace temp table {self._name}_repeated as {found}")
        return bool(self._connection.execute(f"from {self._name}_repeated limit 1").fetchone())

    def count(self, where: str = "true") -> int:
        """How many rows there are, or how many with a property."""
        query = f"select count(*) from {self.view} where {where}"
        (n,) = self._connection.execute(query).fetchone()  # type: ignore[misc]
        return n
