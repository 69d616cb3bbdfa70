"""Foreign names where something else reads them: in TOML, and in a command that is shown."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str:
    """A value of TOML on one line: a text, a number, a list, a table.

    Raises `ValueError` for a text that TOML cannot hold: one with half a character.
    """
    if isinstance(value, Mapping):
        inner = ", ".join(f"{toml_key(key)} = {toml_value(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else _quoted(str(value))


def toml_key(name: str) -> str:
    """A key of TOML, or a part of one."""
    return name if _BARE.fullmatch(name) else _quoted(name)


def toml_comment(text: str) -> str:
    """A comment of TOML, which ends where its line does."""
    return f"# {on_one_line(text)}"


def on_one_line(text: str) -> str:
    """A text of which nothing but blanks and visible characters is left; others are escaped."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def shell_word(text: object) -> str:
    """A word of a command line. A file's name that begins with a dash is no option."""
    word = str(text)
    return shlex.quote(f"./{word}" if word.startswith("-") else word)


def _quoted(text: str) -> str:
    text.encode()  # half a character has no escape
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(char: str) -> str:
    if char == "\t":
        return "\\t"
    if char in '"\\':
        return f"\\{char}"
    return char if char.isprintable() else f"\\U{ord(char):08x}"
