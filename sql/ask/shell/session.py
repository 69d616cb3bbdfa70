"""A session of `gradelake sql`: statements, questions of the book and dot commands in turn.

On a terminal it is a prompt with history, colours and completion (`terminal`); from a
pipe it reads the same, and the first error ends it.
"""

import shlex
import sys
from collections.abc import Mapping

from gradelake.sql.ask import book, question
from gradelake.sql.ask.shell import dot_commands, input_lines
from gradelake.sql.ask.shell.answers import Answers
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput, GradelakeError
from gradelake.sql.lake.opening import Lake

PROMPT, CONTINUED = "lake> ", "...> "


class Shell(Answers):
    """What a session does with each thing that is typed."""

    def do(self, unit: str) -> bool:
        """Do one statement, question or dot command; False when it was to leave.

        Raises `GradelakeError` for what could not be done.
        """
        try:
            return self._do(unit)
        except KeyboardInterrupt:
            # DuckDB's Python client leaves its threads at the stopped query, and the next one would
            # wait for them: this stops them, too
            self.lake.connection.interrupt()
            raise

    def _do(self, unit: str) -> bool:
        if not input_lines.is_line(unit):
            self._ask(self.lake, unit)
            return True
        if not unit.startswith("@"):
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
                chosen, entry = book.parameters(words), book.entry(name[1:])
                statement, values = book.asked(lake, name[1:], chosen)
                self._ask(lake, statement, values, entry.measured_by(chosen), entry.looks)
        return True

    def _ask(
        self,
        lake: Lake,
        statement: str,
        values: question.Values = None,
        measure: str = "",
        looks: Mapping[str, str] | None = None,
    ) -> None:
        found = question.relation(lake, statement, values)
        if found is None:
            return
        some = question.some(found, self.first)
        with self.printing() as for_person:
            n_rows = question.answer(some, self.format, self.first, measure, for_person, looks)
        if not n_rows:
            question.tell_why_empty(lake, statement, values)


def read_lines(shell: Shell) -> None:
    """Standard input line by line. Where only the output is not a terminal, prompts and errors go
    to standard error, and an error ends nothing."""
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
    console.warn(f"error: {text}")
