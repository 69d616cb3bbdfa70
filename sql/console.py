"""What people and programs read: tables, progress and one JSON object where `--json` is given."""

import csv
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

# texts are shown as they are: no markup, no emoji codes
_PLAIN = {"highlight": False, "markup": False, "emoji": False}
out = Console(soft_wrap=True, **_PLAIN)
err = Console(stderr=True, soft_wrap=True, **_PLAIN)


# names of files may hold what steers a terminal; backslash escapes show it instead
_CONTROLS = {n: f"\\x{n:02x}" for n in (*range(9), *range(11, 32), *range(127, 160))}


def say(message: str = "") -> None:
    """A line of a command's result, on standard output."""
    out.print(printable(message))


def warn(message: str) -> None:
    """A line beside the result, on standard error."""
    err.print(printable(message))


def printable(text: str) -> str:
    """A text without what steers a terminal, and without the half characters that stand for bytes
    of a file name that is not UTF-8."""
    return text.translate(_CONTROLS).encode(errors="backslashreplace").decode()


def print_json(value: Any) -> None:
    """The one object of a `--json` command."""
    text = json.dumps(_without_nan(value), default=_plain, ensure_ascii=False, allow_nan=False)
    print(text.encode(errors="backslashreplace").decode())  # half characters as JSON escapes


def progress(what: str, items: Iterable[Any], total: int) -> Iterator[Any]:
    """Go through `items` showing how far: a bar on a terminal, nothing elsewhere."""
    if not err.is_terminal or total < 2:
        yield from items
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn())  # fmt: skip
    with Progress(*columns, console=err, transient=True) as bar:
        yield from bar.track(items, total=total, description=what)


class NodeProgress:
    """Shows a build's models as they finish: a bar on a terminal, a line each elsewhere."""

    def __init__(self, quiet: bool):
        self._quiet = quiet
        self._bar = Progress(
            TextColumn("building"), TextColumn("{task.description}"), TimeElapsedColumn(),
            console=err, transient=True,
        )  # fmt: skip

    def __enter__(self) -> "NodeProgress":
        if not self._quiet and err.is_terminal:
            self._bar.start()
            self._task = self._bar.add_task("", total=None)
        return self

    def __exit__(self, *_: object) -> None:
        if not self._quiet and err.is_terminal:
            self._bar.stop()

    def __call__(self, name: str, status: str, seconds: float) -> None:
        if self._quiet:
            return
        if err.is_terminal:
            self._bar.update(self._task, description=name)
        elif status not in ("pass", "success", "skipped"):  # skipped: it depends on what failed
            warn(f"  {name}: {status}")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table for people; cells wrap at the terminal's width, numbers align right."""
    rows = list(rows)
    decimals = [_decimals(row[index] for row in rows) for index in range(len(columns))]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        numeric = all(isinstance(row[index], int | float | None) for row in rows)
        table.add_column(
            Text(column), justify="right" if numeric and rows else "left", overflow="fold"
        )
    for row in rows:
        cells = (_cell(value, places) for value, places in zip(row, decimals, strict=True))
        table.add_row(*map(Text, cells))
    # a file or pipe has no width: nothing is folded there
    console = out if out.is_terminal else Console(width=100_000, **_PLAIN)
    console.print(table)
    if not rows:
        console.print("(no rows)")


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Comma-separated values with a header; null is an empty cell."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if value is None else value for value in row] for row in rows)


def print_records(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A JSON array of objects."""
    print_json([dict(zip(columns, row, strict=True)) for row in rows])


FORMATS: dict[str, Callable[[Sequence[str], Iterable[Sequence[Any]]], None]] = {
    "table": print_table,
    "csv": print_csv,
    "json": print_records,
}


def _decimals(values: Iterable[Any]) -> int:
    """How many decimals a column's numbers need: the same for each, so that they align."""
    fractions = (f"{v:.10f}".rstrip("0").split(".")[1] for v in values if _is_plain(v))
    return max(map(len, fractions), default=0)


def _is_plain(value: Any) -> bool:
    """A float that reads well without an exponent."""
    return isinstance(value, float) and (value == 0 or 1e-9 < abs(value) < 1e15)


def _cell(value: Any, decimals: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.{decimals}f}" if _is_plain(value) else f"{value:.10g}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _without_nan(value: Any) -> Any:
    """JSON has no NaN and no infinity: they become null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, date | datetime):
        return value.isoformat()
    return str(value)


def size(n: float) -> str:
    """Bytes in human units."""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} TB"
