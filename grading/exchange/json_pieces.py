"""A JSON text that is read value by value as it comes, so that no more than one value is held."""

import json
import re
from collections.abc import Iterator
from typing import Any

from gradelake.sql.common import files

_BLANKS = re.compile(r"[ \t\r\n]*")
_ENDS = {*",]} \t\r\n"}  # what may follow a value
_decode = json.JSONDecoder().raw_decode


class Pieces:
    """One text, in pieces. Everything raises `ValueError` saying what is wrong."""

    def __init__(self, pieces: Iterator[str]):
        self._pieces = pieces
        self._text, self._at = "", 0
        self._gone = 0  # characters that were read and let go

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
            raise self._fault(f"Expecting '{character}'", self._at)

    def value(self) -> Any:
        """The next value, of `files.MAX_TEXT_LINE` characters at most."""
        self.next()
        while True:
            fault, end = None, len(self._text)
            try:
                value, end = _decode(self._text, self._at)
            except json.JSONDecodeError as error:
                fault = self._fault(error.msg, error.pos)
            except RecursionError:
                raise ValueError("nested too deeply") from None
            if self._text[end : end + 1] not in _ENDS and self._more():
                continue  # what is there may be the start of a longer value
            if fault:
                raise fault
            files.refuse_half_characters(self._text[self._at : end], value)
            self._at = end
            return value

    def _more(self) -> bool:
        """Take at least as much again as is held; whether there was any."""
        held = self._text[self._at :]
        if len(held) > files.MAX_TEXT_LINE:
            raise self._fault(f"a value of more than {files.MAX_TEXT_LINE >> 20} MiB", self._at)
        self._gone, self._at = self._gone + self._at, 0
        taken, n_taken = [held], 0
        for piece in self._pieces:
            taken.append(piece)
            n_taken += len(piece)
            if n_taken >= len(held):
                break
        self._text = "".join(taken)
        return n_taken > 0

    def _fault(self, message: str, at: int) -> ValueError:
        return ValueError(f"{message} at column {self._gone + at + 1}")
