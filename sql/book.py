"""The query book: `sql/queries/*.sql`, one question per file, run as `gradelake sql @name`."""

import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import duckdb

from sql.errors import BadInput
from sql.project import did_you_mean

if TYPE_CHECKING:
    from sql.lake import Lake

# parameters that are whole numbers, and the words that may stand for one
_NUMBERS = {"k": (), "level": (), "tau": (), "rubric_version": ("newest", "any")}
# what a parameter may name: a typing error should not look like an empty answer
_KNOWN = {
    "collection": "select collection from lake.raw.collections",
    "query_id": "select query_id from lake.raw.queries",
    "assessor": "select distinct assessor from lake.raw.judgments",
    "grader": "select grader from lake.intermediate.int_graders",
    "label_set": "select label_set from lake.intermediate.int_label_sets",
    "reference": "select label_set from lake.intermediate.int_label_sets",
    "policy": "select policy from lake.intermediate.int_label_policies",
    "measure": "select measure from lake.intermediate.evaluation_grid",
    "level": "select level from lake.intermediate.evaluation_levels",
    "tau": "select level from lake.intermediate.evaluation_levels",
    "k": "select cutoff from lake.intermediate.evaluation_grid where family = 'Cover'",
}
_ALSO = {"tau": {"0"}}  # a plain filter of grades, in some questions
_PARAMETER = re.compile(r"^-- +:(\w+) *= *(\S+) +(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A question with its SQL and its parameters (name -> (default, what it means))."""

    name: str
    question: str
    sql: str
    parameters: dict[str, tuple[str, str]]

    def values(self, given: dict[str, str]) -> dict[str, str | None]:
        """Defaults overridden by what was given.

        Raises `BadInput` for an unknown parameter, and for no number where one is needed.
        """
        chosen = {}
        for name, value in given.items():
            if name not in self.parameters:
                raise BadInput(
                    f"@{self.name} has no parameter {name!r}", did_you_mean(name, self.parameters)
                )
            words = _NUMBERS.get(name)
            if words is not None and value not in words:
                if not re.fullmatch(r"-?\d{1,9}", value):
                    raise BadInput(
                        f"--{name} {value!r}: a whole number is needed"
                        + "".join(f", or {word}" for word in words)
                    )
                value = str(int(value))
            chosen[name] = value
        defaults = {name: default for name, (default, _) in self.parameters.items()}
        return {
            name: None if value == "any" else value for name, value in (defaults | chosen).items()
        }


def check_names(lake: "Lake", values: dict[str, str | None]) -> None:
    """Raise `BadInput` for a value that names nothing in the lake."""
    for name in values.keys() & _KNOWN.keys():
        try:
            known = {str(row[0]) for row in lake.rows(_KNOWN[name])} | _ALSO.get(name, set())
        except duckdb.Error:
            continue  # a release from before there was such a table
        if values[name] is not None and values[name] not in known:
            raise BadInput(
                f"--{name} {values[name]!r}: there is none", did_you_mean(values[name], known)
            )


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
