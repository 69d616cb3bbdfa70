"""The query book: `sql/queries/*.sql`, one question per file, run as `gradelake sql @name`."""

import re
from dataclasses import dataclass
from importlib import resources

from sql.errors import BadInput
from sql.project import did_you_mean

_PARAMETER = re.compile(r"^-- +:(\w+) *= *(\S+) +(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A question with its SQL and its parameters (name -> (default, what it means))."""

    name: str
    question: str
    sql: str
    parameters: dict[str, tuple[str, str]]

    def values(self, given: dict[str, str]) -> dict[str, str | None]:
        """Defaults overridden by what was given. Raises `BadInput` for an unknown parameter."""
        for name in given:
            if name not in self.parameters:
                raise BadInput(
                    f"@{self.name} has no parameter {name!r}", did_you_mean(name, self.parameters)
                )
        defaults = {name: default for name, (default, _) in self.parameters.items()}
        return {
            name: None if value == "any" else value for name, value in (defaults | given).items()
        }


def entries() -> dict[str, Entry]:
    """All entries by name."""
    found = {}
    for file in sorted(resources.files("sql.queries").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            text = file.read_text(encoding="utf-8")
            name = file.name.removesuffix(".sql")
            question = text.splitlines()[0].removeprefix("-- ")
            parameters = {p: (default, what) for p, default, what in _PARAMETER.findall(text)}
            found[name] = Entry(name, question, text, parameters)
    return found


def entry(name: str) -> Entry:
    """One entry. Raises `BadInput` when there is none of that name."""
    book = entries()
    if name not in book:
        raise BadInput(f"the query book has no @{name}", did_you_mean(name, book))
    return book[name]
