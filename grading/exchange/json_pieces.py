"""A JSON text that is read value by value as it comes, so that no more than one value is held.

ijson was tried: its parser in C writes `?` for half a character and says nothing, tells no column,
and needs memory by the square of the depth: 200 kB of brackets ended the process.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from gradelake.sql.common import files

_BLANKS = re.compile(r"[ \t\r\n]*")
_ENDS = {*",:]} \t\r\n"}  # what may follow a value


class Pieces:
    """One text, in pieces. Everything raises `ValueError` saying what is wrong."""

    def __init__(self, pieces: Iterator[str], hook: Callable[[list], Any] | None = None):
        """`hook` makes objects of their pairs, as in `json.loads`."""
        self._pieces = pieces
        self._decode = json.JSONDecoder(object_pairs_hook=hook).raw_decode
        self._text, self._at = "", 0
        self._gone = 0  # characters of this line that were read and let go
        self._line, self._counted = 1, 0

    @property
    def line(self) -> int:
        """The line that is being read; the first is 1."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def next(self) -> str:
        """The next character that is not blank, which stays; empty at the end."""
        while True:
            self._at = _BLANKS.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def takes(self, character: str) -> bool:
        """Whether that character comes next; then it is passed over."""
        if self.next() != character:
            return False
        self._at += 1
        return True

    def require(self, character: str) -> None:
        if not self.takes(character):
            raise self.fault(f"Expecting '{character}'")

    def value(self) -> Any:
        """The next value, of `files.MAX_TEXT_LINE` characters at most."""
        self.next()
        while True:
            fault, end = None, len(self._text)
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError as error:
                fault, behind = error.msg, error.pos - self._at
            except RecursionError:
                raise ValueError("nested too deeply") from None
            if self._text[end : end + 1] not in _ENDS and self._more():
                continue  # what is there may be the start of a longer value
            if fault:
                self._at += behind
                raise self.fault(fault)
            files.refuse_half_characters(self._text[self._at : end], value)
            self._at = end
            return value

    def _more(self) -> bool:
        """Take at least as much again as is held; whether there was any."""
        held = self._text[self._at :]
        if len(held) > files.MAX_TEXT_LINE:
            raise self.fault(f"a value of more than {files.MAX_TEXT_LINE >> 20} MiB")
        self._gone, self._line = self._column(), self.line
        self._at = self._counted = 0
        taken, n_taken = [held], 0
        for piece in self._pieces:
            taken.append(piece)
            n_taken += len(piece)
            if n_taken >= len(held):
                break
        self._text = "".join(taken)
        return n_taken > 0

    def _column(self) -> int:
        """Characters of this line before the place that is read."""
        start = self._text.rfind("\n", 0, self._at)
        return self._at - start - 1 if start >= 0 else self._gone + self._at

    def fault(self, message: str) -> ValueError:
        """What is wrong at the place that is read."""
        return ValueError(f"{message} at column {self._column() + 1}")
