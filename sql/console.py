"""What people and programs read: tables, progress and one JSON object where `--json` is given."""

import csv
import json
import math
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from sql.table_text import cell, one_line, printable, table_lines

# texts are shown as they are: no markup, no emoji codes
_PLAIN = {"highlight": False, "markup": False, "emoji": False}
out = Console(soft_wrap=True, **_PLAIN)
err = Console(stderr=True, soft_wrap=True, **_PLAIN)
_C1 = re.compile("[\x7f-\x9f]")  # what steers a terminal and JSON lets through


def say(message: str = "") -> None:
    """A line of a command's result, on standard output."""
    out.print(printable(message))


def warn(message: str) -> None:
    """A line beside the result, on standard error."""
    err.print(printable(message))


def print_json(value: Any) -> None:
    """The one object of a `--json` command."""
    text = json.dumps(_without_nan(value), default=_plain, ensure_ascii=False, allow_nan=False)
    text = _C1.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
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


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], width: int | None = None
) -> None:
    """A table for people: a line per row, numbers align right.

    On a terminal a line is no longer than the terminal is wide (or than `width`, in cells): texts
    are shortened with …; a file or pipe has no width, and nothing is cut there.
    """
    rows = list(rows)
    on_terminal = out.file.isatty()
    if width is None and on_terminal:
        width = out.width
    (header, *lines), notes = table_lines(columns, rows, width)
    if on_terminal:
        out.print(Text(header, style="bold"))
    else:
        print(header)
    for line in lines:
        print(line)
    for note in notes:
        print(textwrap.fill(f"({note})", width))
    if not rows:
        print("(no rows)")


def print_line(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A line per column, an empty one between rows; nothing is cut: for reading long texts."""
    names = [one_line(column) for column in columns]
    wide = max(map(cell_len, names), default=0)
    for n, row in enumerate(rows):
        if n:
            print()
        for name, value in zip(names, row, strict=True):
            text = f"{value:.10g}" if isinstance(value, float) else cell(value, 0)
            print(f"{' ' * (wide - cell_len(name))}{name} = {printable(text)}")


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Comma-separated values with a header; null is an empty cell.

    A terminal gets texts without what steers it, a file or pipe every character as it is.
    """
    on_terminal = sys.stdout.isatty()
    # what ends a line is quoted in a text: with \r\n, both of its characters
    writer = csv.writer(_UnixLines(), lineterminator="\r\n")
    writer.writerow([printable(column) if on_terminal else column for column in columns])
    for row in rows:
        cells = ["" if value is None else value for value in row]
        writer.writerow([printable(str(each)) for each in cells] if on_terminal else cells)


class _UnixLines:
    """Standard output for a writer of lines that end in `\\r\\n`."""

    def write(self, line: str) -> None:
        sys.stdout.write(line.removesuffix("\r\n") + "\n")


def print_records(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A JSON array of objects."""
    print_json([dict(zip(columns, row, strict=True)) for row in rows])


FORMATS: dict[str, Callable[[Sequence[str], Iterable[Sequence[Any]]], None]] = {
    "table": print_table,
    "line": print_line,
    "csv": print_csv,
    "json": print_records,
}


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
