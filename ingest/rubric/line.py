"""One line of a sheet: tokens, a text, gold answers. Every text survives writing and reading.

A text that a line could not carry as it is (it has line breaks or other control characters, begins
with a double quote, or has white space around it) is written as a JSON string.
"""

import json
import re
import unicodedata
from typing import NamedTuple

from gradelake.ingest.reading.csv_tables import join_answers, split_answers
from gradelake.ingest.rubric.items import cleaned, number
from gradelake.sql.common.rubric_items import KIND, KINDS

FACET = "@facet"  # before the id of a facet; no token is written so without quotes
_ANSWERS = " [answers: "
_JOINERS = "\u200c\u200d"  # invisible, but part of how words and emoji are written
_QUOTE_HINT = 'a text that begins with a double quote is written like "\\"Yes\\" or no?"'


class Fields(NamedTuple):
    """What a line says of an item; `text` is '' where the line has none."""

    weight: float
    kind: str
    text: str
    gold_answers: tuple[str, ...]


def write_token(token: str) -> str:
    """An id or a name as one word: quoted when it would not be read as one."""
    if re.fullmatch(r'[^\s"#@+]\S*', token) and _is_plain(token):
        return token
    return re.sub(r"\s", lambda blank: f"\\u{ord(blank[0]):04x}", _quoted(token))


def take_token(line: str) -> tuple[str, str]:
    """(first word, what follows it, without the white space between).

    Raises `ValueError` when there is none, or its quotes are not closed.
    """
    line = line.lstrip()
    if not line:
        raise ValueError("something is missing at the end of the line")
    if line.startswith('"'):
        return _take_quoted(line)
    word, *rest = re.split(r"\s+", line, maxsplit=1)
    return word, rest[0] if rest else ""


def take_facet(line: str) -> tuple[str, str]:
    """(facet id, what follows it) of a new item that begins `@facet ID`; '' where it does not.
    Raises `ValueError` as `take_token` does."""
    word, rest = take_token(line)
    return take_token(rest) if word == FACET else ("", line)


def write_text(text: str) -> str:
    """A text as the rest of a line."""
    if _is_plain(text) and text == text.strip() and text[:1] != '"' and "[answers:" not in text:
        return text
    return _quoted(text)


def write_fields(fields: Fields, widths: tuple[int, int] = (0, 0)) -> str:
    """Weight, kind, text and gold answers; the first two padded to these widths."""
    parts = [number(fields.weight).ljust(widths[0]), fields.kind.ljust(widths[1])]
    text = write_text(fields.text) if fields.text else ""
    if answers := join_answers(fields.gold_answers):
        text += f"{_ANSWERS}{write_text(answers)}]"
    return "  ".join([*parts, text]).rstrip()


def read_fields(rest: str, weight_may_miss: bool = False) -> Fields:
    """What `write_fields` wrote, or a person changed.

    Raises `ValueError` with words for that person.
    """
    first, rest = take_token(rest)
    if weight_may_miss and re.fullmatch(KIND, first):
        weight, kind = 1.0, first
    else:
        weight = read_weight(first)
        kind, rest = take_token(rest) if rest else ("", "")
    if not re.fullmatch(KIND, kind):
        raise ValueError(f"expected {KINDS}, not {kind!r}")
    text, answers = _text_and_answers(rest)
    return Fields(weight, kind, text, answers)


def read_text(rest: str) -> str:
    """A text, plain or quoted, that ends the line. Raises `ValueError`."""
    rest = rest.strip()
    if not rest.startswith('"'):
        return rest
    text, rest = _take_quoted(rest)
    if rest:
        raise ValueError(f"{rest!r} follows the closing quote: {_QUOTE_HINT}")
    return text


def _text_and_answers(rest: str) -> tuple[str, tuple[str, ...]]:
    rest = f" {rest.strip()}"
    if rest.startswith(' "'):
        text, after = _take_quoted(rest[1:])
        rest = f" {after}" if after else ""
        if rest and not rest.startswith(_ANSWERS):
            raise ValueError(f"{after!r} follows the closing quote: {_QUOTE_HINT}")
    else:
        text, bracket, cell = rest.partition(_ANSWERS)
        rest = bracket + cell
    if not rest:
        return checked_text(text.strip()), ()
    if not rest.endswith("]"):
        raise ValueError("the gold answers do not end with a ]")
    cell = read_text(rest[len(_ANSWERS) : -1])
    return checked_text(text.strip()), cleaned(split_answers(checked_text(cell)))


def read_weight(token: str) -> float:
    """A weight that a person wrote; dbt's check says which may be. Raises `ValueError`."""
    try:
        if "_" not in token:
            return float(token)
    except ValueError:
        pass
    raise ValueError(f"weight {token!r} is not a number")


def _is_plain(text: str) -> bool:
    """Whether every character can stand in a line and be seen, or is a blank between words."""
    return all(
        char.isprintable() or char in _JOINERS or unicodedata.category(char) == "Zs"
        for char in text
    )


def _quoted(text: str) -> str:
    """A JSON string that stays on its line: what cannot be seen is escaped."""
    plain = json.dumps(text, ensure_ascii=False)
    return "".join(char if _is_plain(char) else json.dumps(char)[1:-1] for char in plain)


def _take_quoted(line: str) -> tuple[str, str]:
    try:
        text, end = json.JSONDecoder().raw_decode(line)
    except ValueError as error:
        raise ValueError(f"a quoted text that cannot be read: {_QUOTE_HINT}") from error
    return text, line[end:].strip()


def checked_text(text: str) -> str:
    """The text. Raises `ValueError` for what no file of text can hold."""
    if "\0" in text:
        raise ValueError("it holds a null character, which no file of text may")
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("it holds half a character (a \\ud... without its other half)")
    return text
