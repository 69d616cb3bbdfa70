"""Rubric banks as a table: one item per row, of CSV, a workbook, Parquet, JSON or a database."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from gradelake.ingest.banks.bank_items import Draft, Findings, Item, Place
from gradelake.ingest.mapping.columns import columns_of, mapped
from gradelake.ingest.mapping.form import settings_of
from gradelake.ingest.reading.csv_tables import join_answers, split_answers, written
from gradelake.ingest.reading.rows import NO_ROWS, rows_of
from gradelake.sql.common.problems import Problems, Rejected

COLUMNS = ("query_id", "facet_id", "item_id", "kind", "text", "gold_answer", "weight")
_KINDS = ("question", "nugget", "criterion")  # which a column of texts may be called


class _LeftOut(Problems):
    """Rows that cannot be read are left out; the others come in."""

    def __init__(self, findings: Findings):
        super().__init__(findings.file, "")
        self._findings = findings

    def add(self, line: int | None, message: str) -> None:
        Place(self._findings, line, "this row").leave_out("cells", message)


def read(path: Path, shown: str, findings: Findings) -> list[Draft] | None:
    """Drafts of a table's rows; None where its first row has no columns of a bank.

    A table without rows is none, too. Without a column of kinds the column of texts says it:
    question, nugget or criterion. Several answers are a list, or `a|b`; a bar within one is
    written `\\|`, a backslash before a bar `\\\\`. An empty cell is a missing value. Raises
    `Rejected` for a file that cannot be read.
    """
    problems = _LeftOut(findings)
    rows = rows_of(path, shown, problems)
    try:
        first = next(rows, None)
    except Rejected as rejected:
        if NO_ROWS not in rejected.message:
            raise
        return None
    columns = columns_of("bank", shown, first[1]) if first else {}
    kind = columns.get("text", "")
    if first is None or not {"query", "text"} <= columns.keys():
        return None
    if "kind" not in columns and kind not in _KINDS:
        return None
    if extra := [name for name in first[1] if name not in columns.values()]:
        what = f"columns that are not read: {', '.join(map(repr, extra))}"
        findings.note("columns", None if settings_of(shown) else 1, what)
    found = mapped("bank", path, shown, chain([first], rows), problems, ("query", "text"))
    return [_draft(Place(findings, line, "this row"), row, kind) for line, row in found]


def _draft(place: Place, row: dict[str, Any], kind: str) -> Draft:
    answers = row.get("answers", "")
    return Draft(
        place,
        row["query"],
        str(row.get("kind", kind)).lower() or None,
        row["text"],
        row.get("facet"),
        row.get("item"),
        answers if isinstance(answers, list) else split_answers(str(answers)),
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
