"""What a person answers: keys of a terminal, or lines of a file or pipe."""

import sys
from collections.abc import Callable
from typing import TextIO

import click

from gradelake.sql.common.errors import BadInput

ENTER = ""


class Terminal:
    """Single keys, without Enter. What was typed before a card was shown does not count."""

    def __init__(self, write: Callable[[str], None]):
        self.write = write

    def key(self, prompt: str, keys: str, enter: bool = False) -> str:
        """One of these keys, or `ENTER` where it is allowed; others do nothing."""
        self.write(prompt)
        while True:
            if not (read := click.getchar()):  # the terminal is gone
                raise EOFError
            pressed = read[:1].lower().strip("\r\n")  # these are Enter
            if (pressed == ENTER and enter) or (pressed and pressed in keys):
                self.write(pressed + "\n")
                return pressed

    def line(self, prompt: str) -> str:
        """A line of text, edited as the terminal does."""
        self.write(prompt)
        return _read_line(sys.stdin)


class Lines:
    """A line for each key, and one for each text; an empty one is Enter.

    Raises `BadInput` for a line that is not a key: a script that has gone wrong must stop.
    """

    def __init__(self, stream: TextIO, write: Callable[[str], None]):
        self.stream = stream
        self.write = write
        self.number = 0

    def key(self, prompt: str, keys: str, enter: bool = False) -> str:
        typed = self.line(prompt).strip().lower()
        if (typed == ENTER and enter) or (len(typed) == 1 and typed in keys):
            return typed
        known = ", ".join(keys) + (", or an empty line" if enter else "")
        raise BadInput(
            f"standard input, line {self.number}: {typed!r} is not one of {known}",
            "What was answered before it is in the lake.",
        )

    def line(self, prompt: str) -> str:
        self.write(prompt)
        text = _read_line(self.stream)
        self.number += 1
        self.write(f"{text}\n")
        return text


def _read_line(stream: TextIO) -> str:
    line = stream.readline()
    if not line:
        raise EOFError
    try:
        line.encode()
    except UnicodeEncodeError:  # half characters stand for other bytes
        raise BadInput(
            "what was typed is not UTF-8", "What was answered before it is in the lake."
        ) from None
    return line.rstrip("\r\n")
