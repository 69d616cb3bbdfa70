"""A YAML file of `key: value` lines, taken key by key, every fault kept with its line."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import yaml

from gradelake.grading.prompts.scale import Scale
from gradelake.sql.common import files
from gradelake.sql.common.problems import Problems, reject
from gradelake.sql.common.project import did_you_mean

T = TypeVar("T")

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LARGEST = 1 << 20  # bytes
_DEEPEST = 50  # brackets inside each other; more than any prompt has


class YamlFile:
    """The top level of a file. `keys` has each key's line, `nodes` its value.

    Values are read from the nodes as they are written, so that `No` stays a word. What is wrong
    with one is added to `problems`; what cannot be read at all raises `Rejected` at once.
    """

    def __init__(self, file: Path, shown: str, hint: str):
        self.problems = Problems(shown, hint)
        self.keys: dict[str, int] = {}
        self.nodes: dict[str, yaml.Node] = {}
        data = files.read(file, shown)
        self._lines = data.decode().split("\n")
        for key, value in _compose(data, shown, hint).value:
            line, name = key.start_mark.line + 1, str(key.value)
            if name in self.keys:
                self.problems.add(
                    line, f"{name!r} is given twice (first on line {self.keys[name]})"
                )
                continue
            self.keys[name], self.nodes[name] = line, value
        self.unread = dict(self.keys)

    def add(self, key: str, message: str) -> None:
        """A problem with the value of a key."""
        self.problems.add(self.keys.get(key), f"{key}: {message}")

    def optional(self, key: str, read: Callable[[yaml.Node], T]) -> T | None:
        """What `read` makes of a key's value; None without the key or when `ValueError` is raised,
        which becomes a problem.
        """
        self.unread.pop(key, None)
        if key not in self.nodes:
            return None
        try:
            return read(self.nodes[key])
        except ValueError as error:
            self.add(key, str(error))
            return None

    def required(self, key: str, read: Callable[[yaml.Node], T]) -> T | None:
        """As `optional`; a key that is not there is a problem."""
        if key not in self.nodes:
            self.problems.add(None, f"{key} is missing")
        return self.optional(key, read)

    def word(self, key: str, known: tuple[str, ...]) -> str | None:
        """A required key whose value is one of the known words."""

        def read(node: yaml.Node) -> str:
            if (word := text(node)) not in known:
                raise ValueError(f"unknown {key} {word!r}. {did_you_mean(word, known)}")
            return word

        return self.required(key, read)

    def forbid(self, key: str, why: str) -> None:
        """A key that must not be there."""
        if key in self.nodes:
            self.unread.pop(key)
            self.add(key, why)

    def line_of(self, key: str, part: str) -> int:
        """The line on which a part of a key's value stands; the key's own when it is not found."""
        node = self.nodes[key]
        first, last = node.start_mark.line, node.end_mark.line
        for index in range(first, min(last + 1, len(self._lines))):
            if part in self._lines[index]:
                return index + 1
        return self.keys[key]

    def refuse_unread(self, known: tuple[str, ...]) -> None:
        """A problem for every key that nobody asked for."""
        for key, line in self.unread.items():
            self.problems.add(line, f"unknown key {key!r}. {did_you_mean(key, known)}")


def _compose(data: bytes, shown: str, hint: str) -> yaml.MappingNode:
    if len(data) > _LARGEST:
        raise reject(shown, None, "this is longer than 1 MiB", "Is this the right file?")
    try:
        depth = 0
        for event in yaml.parse(data.decode(), Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:  # composing it could exhaust the stack
                raise reject(shown, event.start_mark.line + 1, "nested too deeply", hint)
        root = yaml.compose(data.decode(), Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(filter(None, (error.context, error.problem)))
        line = mark.line + 1 if mark else None
        raise reject(shown, line, f"not YAML: {what}", hint) from None
    except yaml.YAMLError as error:
        what = " ".join(str(error).split())
        raise reject(shown, None, f"not YAML: {what}", hint) from None
    if not isinstance(root, yaml.MappingNode):
        raise reject(shown, 1, "not a list of `key: value` lines", hint)
    return root


def text(node: yaml.Node) -> str:
    """A text that is not empty. This and the others raise `ValueError` saying what is wrong."""
    if not isinstance(node, yaml.ScalarNode) or node.tag == "tag:yaml.org,2002:null":
        raise ValueError("must be a text")
    if not node.value.strip():
        raise ValueError("must not be empty")
    return node.value


def switch(node: yaml.Node) -> bool:
    """true or false."""
    if text(node).lower() not in ("true", "false"):
        raise ValueError(f"{node.value!r} is neither true nor false")
    return node.value.lower() == "true"


def version(node: yaml.Node) -> int:
    """A whole number above 0."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text(node)):
        raise ValueError(f"{node.value!r} is no whole number above 0")
    return int(node.value)


def scale(node: yaml.Node) -> Scale:
    """`0-5`, or words and their grades."""
    if isinstance(node, yaml.ScalarNode):
        return Scale.parse(node.value)
    words = {}
    for word, value in _pairs(node, "write it as 0-5, or as {No: 0, Yes: 1}"):
        if not isinstance(value, yaml.ScalarNode) or not re.fullmatch(r"[0-9]{1,9}", value.value):
            raise ValueError(f"the grade of {word!r} is no whole number 0 to 9")
        words[word] = int(value.value)
    return Scale.parse(words)


def numbers(node: yaml.Node) -> dict[str, float]:
    """Names and numbers, such as `{temperature: 0, max_tokens: 100}`."""
    values = {}
    for key, value in _pairs(node, "write it as {temperature: 0, max_tokens: 100}"):
        try:
            number = float(value.value) if isinstance(value, yaml.ScalarNode) else math.nan
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"{key} is no number")
        values[key] = int(number) if number.is_integer() else number
    return values


def _pairs(node: yaml.Node, how: str) -> list[tuple[str, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        raise ValueError(how)
    pairs = [(str(key.value), value) for key, value in node.value]
    names = [name for name, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{twice!r} is given twice")
    return pairs
