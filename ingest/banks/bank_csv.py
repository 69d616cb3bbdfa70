"""Rubric banks as a spreadsheet keeps them: one item per row."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from gradelake.ingest.banks.bank_items import Draft, Findings, Item
from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import reject

if TYPE_CHECKING:
    import _csv

REQUIRED = ("query_id", "kind", "text")
COLUMNS = ("query_id", "facet_id", "item_id", "kind", "text", "gold_answer", "weight")
_HINT = f"The first line names the columns: {', '.join(REQUIRED)}, and any of " + ", ".join(
    column for column in COLUMNS if column not in REQUIRED
)


def is_bank(data: bytes) -> bool:
    """Whether the first line is the header of a bank."""
    return separator(data, REQUIRED) is not None


def read(data: bytes, shown: str, findings: Findings) -> Iterator[Draft]:
    """Drafts of a CSV bank. Raises `Rejected` for a header or quoting that cannot be read.

    `gold_answer` holds several answers as `a|b`; a bar within one is written `\\|`, a backslash
    before a bar `\\\\`. An empty cell is a missing value. Cells may also be separated by semicolons
    or tabs, as spreadsheets in some languages do.
    """
    text = io.StringIO(data.decode(), newline="")
    reader = csv.reader(text, strict=True, delimiter=separator(data, REQUIRED) or ",")
    rows = numbered_rows(reader, shown)
    line, header = next(rows)
    names = column_names(header)
    if missing := [name for name in REQUIRED if name not in names]:
        raise reject(shown, line, f"no column {' and no column '.join(missing)}", _HINT)
    if len(set(names)) < len(names):
        raise reject(shown, line, "a column is named twice", _HINT)
    if extra := [name for name in names if name not in COLUMNS]:
        findings.note("columns", line, f"columns that are not read: {', '.join(map(repr, extra))}")
    for line, cells in rows:
        if len(cells) != len(names):
            findings.leave_out(
                "cells",
                line,
                f"this row is left out: {counted(len(cells), 'cells')} instead of {len(names)} "
                "(a text with a comma needs double quotes)",
            )
            continue
        row = {name: cell.strip() or None for name, cell in zip(names, cells, strict=True)}
        kind = row["kind"] and row["kind"].lower()
        yield Draft(
            line,
            "this row",
            row["query_id"],
            kind,
            row["text"] or "",
            row.get("facet_id"),
            row.get("item_id"),
            split_answers(row.get("gold_answer") or ""),
            row.get("weight"),
        )


def write(items: Iterable[Item], stream: TextIO) -> None:
    """Write items so that `read` finds them as they are."""
    items = list(items)
    # the writer itself does not see that a lone carriage return ends a line for the reader
    quoted = any("\r" in text for item in items for text in (item.text, *(item.gold_answers or [])))
    writer = csv.writer(
        stream, lineterminator="\n", quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    )
    writer.writerow(COLUMNS)
    for item in items:
        answers = join_answers(item.gold_answers or [])
        writer.writerow(
            [
                item.query_id,
                item.facet_id,
                item.item_id,
                item.kind,
                item.text,
                answers,
                repr(item.weight).removesuffix(".0"),
            ]
        )


def split_answers(cell: str) -> list[str]:
    """The answers of a cell: `a|b` is two, `a\\|b` one with a bar in it."""
    answers, last = [""], 0
    for match in re.finditer(r"\\([\\|])|(\|)", cell):
        answers[-1] += cell[last : match.start()] + (match[1] or "")
        if match[2]:
            answers.append("")
        last = match.end()
    answers[-1] += cell[last:]
    return answers


def join_answers(answers: Sequence[str]) -> str:
    """One cell that `split_answers` takes apart again."""
    return "|".join(answer.replace("\\", "\\\\").replace("|", "\\|") for answer in answers)


def separator(data: bytes, required: Iterable[str]) -> str | None:
    """What separates the columns of a header that names these; None when it does not."""
    first = re.split("[\r\n]", data.decode().lstrip(), maxsplit=1)[0]
    for mark in ",;\t":
        if set(required) <= set(column_names(next(csv.reader([first], delimiter=mark), []))):
            return mark
    return None


def column_names(header: Sequence[str]) -> list[str]:
    """A header's names, whatever their case and the spaces around them."""
    return [name.strip().lower() for name in header]


def numbered_rows(reader: "_csv.Reader", shown: str) -> Iterator[tuple[int, list[str]]]:
    """(first line, cells) of every row that is not blank. Raises `Rejected` when all are, and for
    quotes that do not match."""
    found = False
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            if not found:
                raise reject(
                    shown, None, "no cell has anything in it", "Is this the right file?"
                ) from None
            return
        except csv.Error as error:
            raise reject(
                shown,
                line,
                f"a row that cannot be read begins here ({error})",
                "A cell that begins with a double quote must end with one; "
                "quotes within it are doubled.",
            ) from error
        if any(cell.strip() for cell in cells):
            found = True
            yield line, cells
