"""What a session of `gradelake sql` was given: statements, questions and dot commands, apart."""

from collections.abc import Iterator

from sql import asking
from sql.errors import BadInput

_LINES = ("@", ".")  # a question of the query book, a dot command: each is a line of its own


class Reader:
    """Takes lines and gives what is finished: a statement at its semicolon, without it, and a line
    that begins with `@` or `.` where no statement is begun."""

    def __init__(self):
        self.pending = ""  # a statement without its end yet

    def feed(self, line: str) -> list[str]:
        """What is finished with this line, in order."""
        if line.lstrip().startswith(_LINES) and not self.unfinished:
            self.pending = ""
            return [line.strip().rstrip(";").rstrip()]
        self.pending += line if line.endswith("\n") else line + "\n"
        if ";" not in line:
            return []
        finished, self.pending = asking.split(self.pending)
        return finished

    def rest(self) -> list[str]:
        """What is left at the end of the input: a last statement needs no semicolon."""
        last, self.pending = self.pending, ""
        return [] if asking.is_nothing(last) else [last]

    @property
    def unfinished(self) -> bool:
        """Whether a statement was begun and not ended."""
        return not asking.is_nothing(self.pending)


def is_line(unit: str) -> bool:
    """Whether a finished unit is a question or a dot command."""
    return unit.startswith(_LINES)


def units(text: str) -> Iterator[str]:
    """What a text of several lines holds, in order; its end ends the last statement."""
    reader = Reader()
    for line in text.split("\n"):
        yield from reader.feed(line)
    yield from reader.rest()


def needs_more(text: str) -> bool:
    """Whether Enter should begin another line, because a statement lacks its semicolon."""
    reader = Reader()
    try:
        for line in text.split("\n"):
            reader.feed(line)
    except BadInput:
        return False  # Enter tells
    return reader.unfinished
