"""A YAML file of `key: value` lines, all values as they are written, each key with its line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from gradelake.sql.common import checked, files
from gradelake.sql.common.checked import M
from gradelake.sql.common.problems import Problems, reject

# scalars stay texts, so that `No` stays a word
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_LARGEST = 1 << 20  # characters
_DEEPEST = 50  # brackets inside each other; more than any prompt has


class YamlFile:
    """What a file holds. What is wrong with it is added to `problems`; what cannot be read at all
    raises `Rejected` at once.
    """

    def __init__(self, file: Path, shown: str, hint: str):
        self.problems = Problems(shown, hint)
        data = files.read(file, shown)
        self._lines = data.decode().split("\n")
        self._root, self.content = _read(data.decode(), shown, hint)
        self._line_of: dict[tuple[str, ...], int] = {}
        for path, line in _keys(self._root):
            if first := self._line_of.get(path):
                self.problems.add(line, f"{path[-1]!r} is given twice (first on line {first})")
            else:
                self._line_of[path] = line

    def add(self, path: tuple[str, ...], message: str) -> None:
        """A problem with the value that keys lead to."""
        self.problems.add(self.line_of(*path), message)

    def read(self, model: type[M], **options: Any) -> M | None:
        """The content as a model has it; what is wrong with it is added to the problems."""
        found, wrong = checked.read(model, self.content, **options)
        for fault in wrong:
            self.add(fault.path, str(fault))
        return found

    def line_of(self, *path: str) -> int | None:
        """Where the keys lead to; else the line of the first of them."""
        return self._line_of.get(path) or self._line_of.get(path[:1])

    def add_at(self, key: str, part: str, message: str) -> None:
        """A problem with a part of a text: on the first line of the text that holds it."""
        node = next(value for name, value in self._root.value if name.value == key)
        first, last = node.start_mark.line, node.end_mark.line + 1
        for line, text in enumerate(self._lines[first:last], start=first + 1):
            if part in text:
                self.problems.add(line, message)
                return
        self.add((key,), message)


def _keys(
    mapping: yaml.MappingNode, above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], int]]:
    """The path and the line of each key; two levels of them."""
    for key, value in mapping.value:
        path = (*above, str(key.value))
        yield path, key.start_mark.line + 1
        if not above and isinstance(value, yaml.MappingNode):
            yield from _keys(value, path)


def _read(text: str, shown: str, hint: str) -> tuple[yaml.MappingNode, dict[str, Any]]:
    if len(text) > _LARGEST:
        raise reject(shown, None, "this is longer than 1 MiB", "Is this the right file?")
    try:
        depth = 0
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:  # composing it could exhaust the stack
                line = event.start_mark.line + 1 if event.start_mark else None
                raise reject(shown, line, "nested too deeply", hint)
        loader = _LOADER(text)
        root = loader.get_single_node()
        content = loader.construct_document(root) if root else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(filter(None, (error.context, error.problem)))
        line = mark.line + 1 if mark else None
        raise reject(shown, line, f"not YAML: {what}", hint) from None
    except yaml.YAMLError as error:
        what = " ".join(str(error).split())
        raise reject(shown, None, f"not YAML: {what}", hint) from None
    if not (isinstance(root, yaml.MappingNode) and isinstance(content, dict)):
        raise reject(shown, 1, "not a list of `key: value` lines", hint)
    return root, content
