"""What a session of `gradelake sql` was given: statements, questions and dot commands, apart."""

import re
from collections.abc import Iterator

from gradelake.sql.ask import question
from gradelake.sql.common.errors import BadInput

# a question of the query book, a dot command, one of psql's: each is a line of its own
_LINES = ("@", ".", "\\")
# these of psql's also within a statement, which goes on below them
_BETWEEN = re.compile(r"\s*\\(q|\?|dt?\+?(\s+.*)?)\s*;?\s*")
# what people type who come from another shell
_COMMANDS = {"help": ".help", "exit": ".quit", "quit": ".quit"}


class Reader:
    r"""Takes lines and gives what is finished: a statement at its semicolon, without it, and a line
    that begins with `@`, `.` or `\` where no statement is begun. `\d`, `\dt`, `\?` and `\q` are
    such lines within a statement, too, outside of quotes."""

    def __init__(self) -> None:
        self.pending = ""  # a statement without its end yet
        self.line = 1  # where what was given last begins, or what is pending
        self.between = False  # whether the last line was such a one within a statement
        self._n_lines = 0

    def feed(self, line: str) -> Iterator[str]:
        """What is finished with this line, in order."""
        self._n_lines += 1
        begun = self.unfinished
        self.between = begun and bool(_BETWEEN.fullmatch(line)) and not self._in_quotes()
        if self.between or (line.lstrip().startswith(_LINES) and not begun):
            self.line = self._n_lines
            self.pending = f"{self.pending}\n" if begun else ""
            yield line.strip().rstrip(";").rstrip()
            return
        self.pending += line if line.endswith("\n") else line + "\n"
        if ";" not in line:
            return
        text = self.pending
        self.line = self._line_of(text, 0)
        finished, self.pending = question.split(text)
        place = 0
        for statement in finished:
            place = text.index(statement, place)
            self.line = self._line_of(text, place)
            place += len(statement)
            yield statement

    def rest(self) -> Iterator[str]:
        """What is left at the end of the input: a last statement needs no semicolon."""
        last, self.pending = self.pending, ""
        if not question.is_nothing(last):
            self.line = self._line_of(last, 0)
            yield last

    def _in_quotes(self) -> bool:
        return any(self.pending.count(quote) % 2 for quote in "'\"")

    def _line_of(self, text: str, place: int) -> int:
        """The line that the first word from a place of a text on is on, if the text ends here."""
        begin = question.beginning(text, place)
        return self._n_lines - text.count("\n", begin) + 1

    @property
    def unfinished(self) -> bool:
        """Whether a statement was begun and not ended."""
        return not question.is_nothing(self.pending)


def as_command(text: str) -> str:
    """`help`, `exit` and the like, alone at the beginning of a statement, as dot commands."""
    return _COMMANDS.get(text.strip().rstrip(";").rstrip().lower(), text)


def is_line(unit: str) -> bool:
    """Whether a finished unit is a question or a dot command."""
    return unit.startswith(_LINES)


def _read(text: str) -> tuple[Reader, list[str]]:
    """A reader that was given a text of several lines, and what it gave."""
    reader = Reader()
    return reader, [unit for line in text.split("\n") for unit in reader.feed(line)]


def units(text: str) -> tuple[list[str], str]:
    """What a text of several lines holds, in order; its end ends the last statement, unless the
    last line is one within it. Beside it that statement, which is left unfinished, or ''."""
    reader, found = _read(text)
    if reader.between:
        return found, reader.pending.rstrip("\n") + "\n"
    return [*found, *reader.rest()], ""


def needs_more(text: str) -> bool:
    """Whether Enter should begin another line, because a statement lacks its semicolon."""
    try:
        reader, _ = _read(as_command(text))
    except BadInput:
        return False  # Enter shows the error
    return reader.unfinished and not reader.between
