"""A table before it is LaTeX, CSV or JSON: values, how they are shown, and which stand out."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradelake.sql.common.latex import UNDEFINED
from gradelake.sql.common.spreadsheet import shown_row


@dataclass(frozen=True)
class Cell:
    """A value and what a reader of the printed table sees of it. `is_best`: of its column, where
    others are bold for being as good. `error`: how far the value may be off and still be as good as
    another."""

    value: Any
    text: str
    is_bold: bool = False
    is_best: bool = False
    is_boxed: bool = False
    is_grey: bool = False
    error: float = 0.0


@dataclass(frozen=True)
class Column:
    """`name` is the key in CSV and JSON, `head` stands above it in print, `group` above that.

    `is_key`: it says what a row is. `is_beside`: it belongs to the column before.
    """

    name: str
    head: str
    group: str = ""
    is_number: bool = True
    is_key: bool = False
    is_beside: bool = False


@dataclass(frozen=True)
class Block:
    """Rows that belong together. `keys` are said once in print, in every row elsewhere.

    `remarks` stand at the end of every row elsewhere; in print the caption or a cell says them.
    """

    keys: dict[str, Any]
    rows: list[list[Cell]]
    title: str = ""
    remarks: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """`name` is the kind of table; `caption` says what it shows; the blocks share the columns."""

    name: str
    caption: str
    columns: list[Column]
    blocks: list[Block]
    about: dict[str, Any] = field(default_factory=dict)

    def records(self) -> list[dict[str, Any]]:
        """A row as an object: the block's keys, then a value per column, null where undefined."""
        return [
            block.keys
            | {c.name: cell.value for c, cell in zip(self.columns, row, strict=True)}
            | block.remarks
            for block in self.blocks
            for row in block.rows
        ]

    def as_object(self) -> dict[str, Any]:
        return {"table": self.name, **self.about, "rows": self.records()}

    def as_csv(self) -> str:
        """Comma-separated values with a header; undefined is an empty cell."""
        records = self.records()
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(records[0])
        writer.writerows(shown_row(row.values()) for row in records)
        return stream.getvalue()


def number(value: float | None, decimals: int) -> Cell:
    """A number with so many decimals; `--` where it is undefined."""
    if value is None:
        return Cell(None, UNDEFINED)
    text = f"{value:.{decimals}f}"
    return Cell(value, text.removeprefix("-") if float(text) == 0 else text)


def rank(value: float | None) -> Cell:
    """A rank; ties may share a half one."""
    return Cell(value, UNDEFINED if value is None else f"{value:.4g}")


def text(value: str, shown: str | None = None) -> Cell:
    """A word."""
    return Cell(value, value if shown is None else shown)


def with_best_bold(
    rows: Sequence[list[Cell]], columns: Iterable[int], within: float = 0, marks_best: bool = False
) -> list[list[Cell]]:
    """The rows with the greatest of each of these columns bold, as printed, and what is `within` so
    much of it, or whose error overlaps its error: ties all are. A value that is not printed is
    none. With `marks_best` the greatest `is_best`, too: bold italic, as in RUBRIC's Table 3."""
    rows = [list(row) for row in rows]
    for index in columns:
        printed = [row for row in rows if row[index].value is not None and row[index].text]
        best = max(((float(row[index].text), row[index].error) for row in printed), default=(0, 0))
        least = best[0] - best[1] - within - 1e-9
        for row in printed:
            if float(row[index].text) + row[index].error >= least:
                is_best = marks_best and float(row[index].text) == best[0]
                row[index] = replace(row[index], is_bold=True, is_best=is_best)
    return rows
