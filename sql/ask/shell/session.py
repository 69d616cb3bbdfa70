"""`gradelake sql` without a query: statements, questions of the book and dot commands in turn.

On a terminal it is a prompt with history, colours and completion (`terminal`); from a
pipe it reads the same, and the first error ends it.
"""

import contextlib
import io
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from gradelake.sql.ask import book, question
from gradelake.sql.ask.shell import dot_commands, input_lines
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput, GradelakeError, masked

if TYPE_CHECKING:
    from gradelake.sql.lake.lake import Lake

PROMPT, CONTINUED = "lake> ", "...> "


class Shell:
    """A session: the lake it asks, the format of its answers, and where they go."""

    def __init__(
        self, lake: "Lake", format_: str, output: Path | None = None, is_named: bool = False
    ):
        """`is_named`: the lake is a release that was asked for by name. Raises `BadInput` for a
        format that cannot hold several answers, and when `output` cannot be written."""
        self.lake = lake
        self.is_named = is_named
        self.paged = False
        self._file: TextIO | None = None
        self._path: Path | None = None
        self.set_format(format_)
        self.set_output(output)

    def set_format(self, name: str) -> None:
        """Print answers in one of `console.FORMATS`. Raises `BadInput` for another."""
        if name == "parquet":
            raise BadInput(
                "a Parquet file holds one answer",
                'Give the query with it: gradelake sql --format parquet --output FILE "select ..."',
            )
        if name not in console.FORMATS:
            raise BadInput(f"no format {name!r}", book.did_you_mean(name, console.FORMATS))
        self.format = name

    def set_output(self, path: Path | None) -> None:
        """Send answers to a file, made anew, or (None) to standard output again.

        Raises `BadInput` when the file cannot be written; answers then go where they went.
        """
        try:
            opened = path.open("w", encoding="utf-8") if path else None
        except OSError as error:
            raise question.cannot_be_written(path, error) from None
        self.close()
        self._file, self._path = opened, path

    def close(self) -> None:
        if self._file:
            self._file.close()

    def do(self, unit: str) -> bool:
        """Do one statement, question or dot command; False when it was to leave.

        Raises `GradelakeError` for what could not be done.
        """
        try:
            return self._do(unit)
        except KeyboardInterrupt:
            # DuckDB's Python client leaves its threads at the stopped query, and the next one would
            # wait for them: this tells them, too
            self.lake.connection.interrupt()
            raise

    def _do(self, unit: str) -> bool:
        if not input_lines.is_line(unit):
            self._ask(self.lake, unit)
            return True
        if unit.startswith("."):
            return dot_commands.do(self, unit)
        try:
            name, *words = shlex.split(unit)
        except ValueError:
            raise BadInput(f"{unit}: no closing quotation", "Close the quote.") from None
        if name == "@":
            dot_commands.list_book(self)
        elif {"--help", "-h"} & set(words):
            console.say(book.entry(name[1:]).help())
        else:
            with question.lake_of(self.lake, book.entry(name[1:]), self.is_named) as lake:
                self._ask(lake, *book.asked(lake, name[1:], book.parameters(words)))
        return True

    def _ask(self, lake: "Lake", statement: str, values: question.Values = None) -> None:
        found = question.relation(lake, statement, values)
        if found is None:
            return
        with self.printing():
            n_rows = question.answer(found, self.format)
        if not n_rows:
            question.tell_what_is_not_built(lake)

    @contextlib.contextmanager
    def printing(self) -> Iterator[None]:
        """What is printed inside goes to the output: a file, a pager, or standard output."""
        if self._file:
            try:
                with contextlib.redirect_stdout(self._file):
                    yield
                self._file.flush()
            except OSError as error:
                raise question.cannot_be_written(self._path, error) from None
        elif self.paged:
            with contextlib.redirect_stdout(io.StringIO()) as text:
                yield
            os.environ.setdefault("LESS", "-S")  # long lines scroll sideways
            click.echo_via_pager(console.printable(text.getvalue()))
        else:
            yield
            sys.stdout.flush()  # a program may be waiting at the other end of a pipe


def run(lake: "Lake", format_: str, output: Path | None = None, is_named: bool = False) -> None:
    """Ask until the input ends. Raises the first `GradelakeError` when nobody is there to read it
    and go on."""
    with contextlib.closing(Shell(lake, format_, output, is_named)) as shell:
        if sys.stdin.isatty() and sys.stdout.isatty():
            from gradelake.sql.ask.shell.terminal import converse

            converse(shell)
        else:
            _read(shell)


def _read(shell: Shell) -> None:
    """Standard input line by line. Where only the output is no terminal, prompts and errors go to
    standard error, and an error ends nothing."""
    reader, typed, at_end = input_lines.Reader(), sys.stdin.isatty(), False
    while not at_end:
        try:
            if typed:
                print(
                    CONTINUED if reader.unfinished else PROMPT, end="", file=sys.stderr, flush=True
                )
            line = sys.stdin.readline().removeprefix("\ufeff")
            at_end = not line
            if typed and not reader.unfinished:
                line = input_lines.as_command(line)
            for unit in reader.rest() if at_end else reader.feed(line):
                if not shell.do(unit):
                    return
        except UnicodeDecodeError:
            raise BadInput("standard input is not UTF-8", "Save the statements as UTF-8.") from None
        except GradelakeError as error:
            if not typed:
                error.message = f"statement at line {reader.line}: {error.message}"
                raise
            tell(error)
        except KeyboardInterrupt:
            if not typed:
                raise
            reader = input_lines.Reader()
            console.warn("")


def tell(error: Exception) -> None:
    """Print an error as the command line does; the session goes on."""
    text = str(error) if isinstance(error, GradelakeError) else f"{type(error).__name__}: {error}"
    console.warn(f"error: {masked(text)}")
