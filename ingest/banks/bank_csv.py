"""Rubric banks as a spreadsheet keeps them: one item per row."""

from collections.abc import Iterable, Iterator

from gradelake.ingest.banks.bank_items import Draft, Findings, Item, Place
from gradelake.ingest.reading.csv_tables import (
    Table,
    join_answers,
    separator,
    split_answers,
    written,
)

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
    before a bar `\\\\`. An empty cell is a missing value.
    """
    table = Table(data, shown, REQUIRED)
    table.require([*REQUIRED, *(name for name in COLUMNS if name in table.names)], _HINT)
    if extra := [name for name in table.names if name not in COLUMNS]:
        what = f"columns that are not read: {', '.join(map(repr, extra))}"
        findings.note("columns", table.line, what)

    def row_at(line: int) -> Place:
        return Place(findings, line, "this row")

    for line, row in table.rows(lambda line, why: row_at(line).leave_out("cells", why)):
        yield Draft(
            row_at(line),
            row["query_id"],
            row["kind"].lower() or None,
            row["text"],
            row.get("facet_id"),
            row.get("item_id"),
            split_answers(row.get("gold_answer", "")),
            row.get("weight") or None,
        )


def text_of(items: Iterable[Item]) -> str:
    """A file of these items, in which `read` finds them as they are."""
    rows = [
        (
            item.query_id,
            item.facet_id,
            item.item_id,
            item.kind,
            item.text,
            join_answers(item.gold_answers or []),
            repr(item.weight).removesuffix(".0"),
        )
        for item in items
    ]
    return written([COLUMNS, *rows])
