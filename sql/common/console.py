"""What people and programs read: tables, progress and one JSON object where `--json` is given."""

import csv
import json
import math
import re
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from itertools import chain
from typing import Any, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gradelake.sql.common.interrupts import after_imports
from gradelake.sql.common.spreadsheet import shown_row
from gradelake.sql.common.table_text import (
    ColumnTexts,
    cell,
    one_line,
    reads_better_as_lines,
    table_lines,
    text_columns,
)
from gradelake.sql.common.table_text import printable as printable
from gradelake.sql.shown.units import duration as duration
from gradelake.sql.shown.units import rate as per_second
from gradelake.sql.shown.units import size as size

# texts are shown as they are: no markup, no emoji codes
_PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
out = Console(soft_wrap=True, **_PLAIN)
err = Console(stderr=True, soft_wrap=True, **_PLAIN)
EVERY = 10.0  # seconds between lines of progress
_C1 = re.compile("[\x7f-\x9f]")  # what steers a terminal and JSON lets through


@dataclass
class Loudness:
    """What `--quiet`, `--verbose` and `--debug` ask for, before a command or after it."""

    quiet: bool = False
    verbose: bool = False
    debug: bool = False


loudness = Loudness()


@contextmanager
def quietly(quiet: bool) -> Iterator[None]:
    """Show results, warnings and errors only of what is done inside, if `quiet`."""
    before, loudness.quiet = loudness.quiet, quiet
    try:
        yield
    finally:
        loudness.quiet = before


def say(message: str = "", wrap: bool = False) -> None:
    """Print a line of a command's result; a terminal gets one that may be long in lines of whole
    words, where `wrap` says so."""
    out.print(printable(message), soft_wrap=not (wrap and out.is_terminal))


def hint(message: str) -> None:
    """What could be done next, on standard output; --quiet leaves it out."""
    if not loudness.quiet:
        say(message)


def tell(message: str) -> None:
    """What is being done, on standard error; --quiet leaves it out."""
    if not loudness.quiet:
        warn(message)


def warn(message: str) -> None:
    """A line beside the result, on standard error."""
    err.print(printable(message))


def print_json(value: Any) -> None:
    """The one object of a `--json` command."""
    # characters that the encoding lacks are escaped, not lost
    escaped = (sys.stdout.encoding or "utf-8").lower() != "utf-8"
    print(as_json(value, escaped))


def as_json(value: Any, escaped: bool = False) -> str:
    """One line of JSON: no NaN, nothing that steers a terminal, half characters as escapes."""
    text = _C1.sub(lambda found: f"\\u{ord(found[0]):04x}", _as_json(value, escaped))
    return text.encode(errors="backslashreplace").decode()


def progress(
    what: str, items: Iterable[Any], total: int, at: Callable[[], int] | None = None
) -> Iterator[Any]:
    """Go through `items` showing how far of `total`, how fast and how long still: a bar on a
    terminal, a line now and then elsewhere. With `at`, which says how far, these are bytes."""
    started = time.monotonic()

    def how_far(n: int) -> str:
        shown = "{:,}".format if at is None else size
        rate = n / max(time.monotonic() - started, 1e-3)
        left = f", {duration((total - n) / rate)} left" if rate else ""
        fast = per_second(rate, decimals=1) if at is None else f"{size(rate)}/s"
        return f"{shown(n)} of {shown(total)}, {fast}{left}"

    with _timed(what), telling(what, total) as tell:
        for n, item in enumerate(items, start=1):
            yield item
            done = n if at is None else at()
            tell(done, partial(how_far, done))


@contextmanager
def telling(what: str, total: int) -> Iterator[Callable[[int, Callable[[], str]], None]]:
    """Yields what is told, as often as you like, how much of `total` is done, and what makes a text
    of that: a bar on a terminal, a line now and then elsewhere."""
    if not shows_progress() or total < 2:
        yield now_and_then(lambda n, text: f"{what}: {text()}")
        return
    columns = (TextColumn(what), BarColumn(), TextColumn("{task.description}"))
    # standard output may be another's by the time that the bar ends
    with Progress(*columns, console=err, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=total)
        yield lambda n, text: bar.update(task, completed=n, description=text())


def unseen(what: str, items: Iterable[Any], total: int, **_: Any) -> Iterable[Any]:
    """A `progress` that shows nothing."""
    return items


def now_and_then(line: Callable[..., str]) -> Callable[..., None]:
    """A function to be called often; every ten seconds it tells what `line` makes of its
    arguments."""
    last = time.monotonic()

    def tell_now(*about: object) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            tell(line(*about))

    return tell_now


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner with a text on a terminal, nothing elsewhere. Standard output waits."""
    with _timed(what):
        if not shows_progress():
            yield
            return
        spinner = Live(
            Spinner("line", text=f"{what} ..."),
            console=err,
            transient=True,
            redirect_stdout=False,  # it would be written to standard error
            redirect_stderr=False,
        )
        with spinner, _terminated():
            yield


@contextmanager
def _terminated() -> Iterator[None]:
    """SIGTERM ends the process as an exception does, so that the cursor comes back."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return

    leave = after_imports(lambda: sys.exit(143))
    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is leave:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _timed(what: str) -> Iterator[None]:
    """Print how long something took, if --verbose was given."""
    started = time.monotonic()
    yield
    if loudness.verbose:
        warn(f"{what}: {duration(time.monotonic() - started)}")


def shows_progress() -> bool:
    """Whether there is a terminal that understands, and nobody asked for quiet."""
    return err.is_interactive and not loudness.quiet


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], width: int | None = None
) -> None:
    """A table for people: a line per row, numbers align right.

    On a terminal a line is no longer than the terminal is wide (or than `width`, in cells): texts
    are shortened with …; a file or pipe has no width, and nothing is cut there. A row or two that
    would lose columns are printed as `print_line` does.
    """
    print_columns(text_columns(columns, list(rows)), width)


def print_columns(columns: list[ColumnTexts], width: int | None = None) -> None:
    """A table whose texts are made already, as `print_table` prints it."""
    on_terminal = out.file.isatty()
    if width is None and on_terminal:
        width = out.width
    if reads_better_as_lines(columns, width):
        rows = zip(*(column.texts for column in columns), strict=True)
        print_line([column.header for column in columns], rows)
        return
    _print_lines(columns, width, on_terminal)
    if not columns[0].texts:
        print("(no rows)")


def printed_columns(columns: list[ColumnTexts]) -> list[str]:
    """The lines of `print_columns` where nothing is cut."""
    return table_lines(columns)[0]


def _print_lines(columns: list[ColumnTexts], width: int | None, on_terminal: bool) -> None:
    (header, *lines), notes = table_lines(columns, width)
    if on_terminal:
        out.print(Text(header, style="" if out.no_color else "bold"))
    else:
        print(header)
    for line in lines:
        print(line)
    for note in notes:
        print(textwrap.fill(f"({note})", width or 1))


def print_wrapped(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table whose last column, a text, a terminal gets in lines of whole words."""
    if not out.file.isatty():
        print_table(columns, rows)
        return
    style = "" if out.no_color else "bold"
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=style)
    for column in columns:
        table.add_column(column, no_wrap=column != columns[-1])
    for row in rows:
        table.add_row(*(Text(one_line(cell(value, 0))) for value in row))
    out.print(table, soft_wrap=False)


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
    """Comma-separated values with a header; null is an empty cell, and no text a formula.

    A terminal gets texts without what steers it, a file or pipe every character as it is.
    """
    on_terminal = sys.stdout.isatty()
    # what ends a line is quoted in a text: with \r\n, both of its characters
    writer = csv.writer(UnixLines(sys.stdout), lineterminator="\r\n")
    for row in chain([columns], rows):
        if on_terminal:
            row = [None if each is None else printable(str(each)) for each in row]
        writer.writerow(shown_row(row))


class UnixLines:
    """A stream for a writer of lines that end in `\\r\\n`: those that it gets end in `\\n`."""

    def __init__(self, stream: TextIO):
        self.stream = stream

    def write(self, line: str) -> None:
        self.stream.write(line.removesuffix("\r\n") + "\n")


def print_records(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A JSON array of objects."""
    print_json([dict(zip(columns, row, strict=True)) for row in rows])


def plain(value: Any) -> Any:
    """A value as a reader of `print_json` gets it: no NaN, tuples as lists, dates as texts."""
    return json.loads(_as_json(value, True))


def _as_json(value: Any, escaped: bool) -> str:
    return json.dumps(_without_nan(value), default=_plain, ensure_ascii=escaped, allow_nan=False)


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
