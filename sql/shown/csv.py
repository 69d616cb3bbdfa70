"""An answer's first table as CSV: a header, values in full, and nothing said of them."""

import csv
import io
from typing import Any

from gradelake.sql.common.spreadsheet import shown_row
from gradelake.sql.shown.answer import Answer, Table


def render(answer: Answer) -> str:
    """The first table; `Answer.of` chooses another. Empty where there is none."""
    return table_csv(answer.tables[0]) if answer.tables else ""


def table_csv(table: Table) -> str:
    """One table; undefined is an empty cell, and no text a formula."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(shown_row(table.keys()))
    writer.writerows(shown_row(map(_plain, record.values())) for record in table.records())
    return stream.getvalue()


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value
