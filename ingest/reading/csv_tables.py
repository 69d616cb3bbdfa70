"""CSV files as people keep them: read row by row, written so that they can be read again."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import reject


class Table:
    """A CSV whose first row names the columns, in any order and case.

    Cells may also be separated by semicolons or tabs, as spreadsheets in some languages do.
    """

    def __init__(
        self,
        data: bytes,
        shown: str,
        required: Sequence[str],
        delimiter: str = "",
        names: Sequence[str] = (),
        above: int = 0,
    ):
        """`delimiter`: the only one that may separate cells. `names`: of the columns of a table
        that has no header. `above`: how many rows stand above the header.

        Raises `Rejected` when nothing is in it, or its quotes do not match.
        """
        self.shown = shown
        text = io.StringIO(data.decode(), newline="")
        delimiter = delimiter or separator(data, required) or ","
        # what has no header and tabs was written by programs, which quote nothing
        if names and delimiter in "\t ":
            self._reader = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        else:
            self._reader = csv.reader(text, strict=True, delimiter=delimiter)
        self._rows = self._numbered()
        for _ in range(above):
            next(self._rows)
        self.line, header = (1, names) if names else next(self._rows)
        self.names = column_names(header)

    def require(self, columns: Iterable[str], hint: str) -> None:
        """Raise `Rejected` unless each of these columns is there, once."""
        if missing := [name for name in columns if name not in self.names]:
            what = f"no column {' and no column '.join(missing)}"
            raise reject(self.shown, self.line, what, hint)
        for name in columns:
            if self.names.count(name) > 1:
                raise reject(self.shown, self.line, f"column {name} appears twice", hint)

    def rows(
        self, leave_out: Callable[[int, str], None], short: bool = False
    ) -> Iterator[tuple[int, dict[str, str]]]:
        """(first line, cells by column) of every row. One with more or fewer cells is left out:
        `leave_out` gets its line and why. A row may have fewer where they may be `short`."""
        for line, cells in self._rows:
            if short:
                cells = [*cells, *[""] * (len(self.names) - len(cells))]
            if len(cells) == len(self.names):
                values = (cell.strip() for cell in cells)
                yield line, dict(zip(self.names, values, strict=True))
            elif len(cells) > 1 or not cells[0].startswith("#"):
                leave_out(
                    line,
                    f"{counted(len(cells), 'cells')} instead of {len(self.names)} "
                    "(a text with a comma needs double quotes)",
                )

    def _numbered(self) -> Iterator[tuple[int, list[str]]]:
        """(first line, cells) of every row that is not blank."""
        found = False
        while True:
            line = self._reader.line_num + 1
            try:
                cells = next(self._reader)
            except StopIteration:
                break
            except csv.Error as error:
                raise reject(
                    self.shown,
                    line,
                    f"a row that cannot be read begins here ({error})",
                    "A cell that begins with a double quote must end with one; "
                    "quotes within it are doubled.",
                ) from error
            if any(cell.strip() for cell in cells):
                found = True
                yield line, cells
        if not found:
            raise reject(self.shown, None, "every cell is empty", "Is this the right file?")


def separator(data: bytes, required: Iterable[str]) -> str | None:
    """What separates the columns of a header that names these; None when it does not."""
    for mark in ",;\t":
        if set(required) <= set(column_names(first_cells(data, mark))):
            return mark
    return None


def first_cells(data: bytes, delimiter: str) -> list[str]:
    """The cells of the first line that is not blank, if this separates them."""
    first = re.split(b"[\r\n]", data.lstrip(), maxsplit=1)[0].decode()
    return next(csv.reader([first], delimiter=delimiter), [])


def column_names(header: Sequence[str]) -> list[str]:
    """A header's names, whatever their case and the spaces around them."""
    return [name.strip().lower() for name in header]


def written(rows: Sequence[Sequence[str]], end: str = "\n") -> str:
    """Rows as `csv.reader` finds them again; each ends in `end`."""
    text = io.StringIO(newline="")
    # the writer itself does not see that a lone carriage return ends a line for the reader
    quoted = any("\r" in cell for row in rows for cell in row)
    writer = csv.writer(
        text, lineterminator=end, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    )
    writer.writerows(rows)
    return text.getvalue()


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


def finite_number(value: Any) -> float | None:
    """What a cell, or a value of JSON, says as a number; None for what is no finite one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
