"""Forms that tools write: each is a YAML in presets/, or in a project's own folder `presets`.

A preset says how its form is recognised, and what is brought in by it, in the words of
gradelake.toml (form.py). `start` knows a folder's files by presets, and an import takes one by
`--as`. A new form is a new file here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import yaml
from pydantic import BeforeValidator, Field

from gradelake.ingest.mapping.form import ROLES, File
from gradelake.ingest.mapping.labels import whole
from gradelake.ingest.mapping.paths import check_path, has, nested, plain, value_at
from gradelake.ingest.reading.csv_tables import Table, finite_number, first_cells
from gradelake.ingest.reading.rows import Row, is_table, rows_of
from gradelake.sql.common import files
from gradelake.sql.common.checked import Checked, Text, read
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems, Rejected
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.common.quoting import toml_value

FOLDER = "presets"  # of a project
KINDS = (
    "queries",
    "passages",
    "judgments",
    "labels",
    "runs",
    "responses",
    "clicks",
    "official_ranks",
    "bank",
    "rag",
)
_ROLES_OF = {"labels": "judgments"}
_OF_ANY = {"only", "columns", "delimiter", "template"}
_OF_FILES = {
    "judgments": _OF_ANY | {"labels", "cuts"},
    "labels": _OF_ANY | {"labels", "cuts", "judge"},
    "official_ranks": set(),
    "bank": set(),
}
SAMPLE = 200  # lines or rows that are looked at
_MARKS = ",;\t|"


def _several(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


_Texts = Annotated[tuple[Text, ...], BeforeValidator(_several)]


class Preset(Checked):
    """One form. `columns` (or paths) and `values` are of the rows at `rows`; `lines` is a pattern
    that each line has; `files` is one of the file's name."""

    says: Text
    columns: _Texts = ()
    rows: Text | None = None
    lines: Text | None = None
    files: Text | None = None
    values: dict[Text, Any] = Field(default={})
    brings: dict[Text, dict[Text, Any]]

    @property
    def weight(self) -> int:
        """How much it takes to be recognised: of two forms, the one that asks more is meant."""
        return len(self.columns) + len(self.values) + bool(self.rows) + bool(self.files)


@dataclass
class Sample:
    """The first lines, or rows, of a file. What cannot be read has none; `why` says so."""

    path: Path
    shown: str
    why: str = ""
    _of_rows: dict[str | None, list[dict[str, Any]]] = field(default_factory=dict)

    @cached_property
    def is_table(self) -> bool:
        return is_table(self.path, self.shown, "runs")

    @cached_property
    def lines(self) -> list[str]:
        """Of a text that is no table."""
        if self.is_table:
            return []
        try:
            return [text for _, text in islice(files.lines_of(self.path, self.shown), SAMPLE)]
        except Rejected as rejected:
            self._cannot(rejected)
            return []

    def rows(self, path: str | None = None) -> list[dict[str, Any]]:
        """Rows of a table, or of a text that looks like one, at a path."""
        if path not in self._of_rows:
            problems = Problems(self.shown, "")
            found: Iterable[Row] = self._rows(problems)
            found = nested(found, path) if path else found
            try:
                self._of_rows[path] = [row for _, row in islice(found, SAMPLE)]
            except Rejected as rejected:
                self._cannot(rejected)
                self._of_rows[path] = []
        return self._of_rows[path]

    def _rows(self, problems: Problems) -> Iterator[Row]:
        start = "".join(self.lines[:1]).lstrip()[:1]
        if self.is_table or start in ("{", "["):
            yield from rows_of(self.path, self.shown, problems)
        elif self.lines:  # no more of a text is read than its first lines
            data = "\n".join(self.lines).encode()
            mark = max(_MARKS, key=lambda each: len(first_cells(data, each)))
            yield from Table(data, self.shown, (), mark).rows(problems.add)

    def _cannot(self, rejected: Rejected) -> None:
        self.why = f"{rejected.problems[0].message}; {rejected.hint}".rstrip("; ")


def presets_of(folder: Path) -> dict[str, Preset]:
    """Every preset by its name, those of a project's folder before ours.

    Raises `BadInput` for one of the project's that cannot be used.
    """
    return _ours() | {file.stem: _read(file) for file in sorted((folder / FOLDER).glob("*.yaml"))}


@lru_cache(maxsize=1)
def _ours() -> dict[str, Preset]:
    folder = Path(__file__).parent / "presets"
    return {file.stem: _read(file) for file in sorted(folder.glob("*.yaml"))}


def preset(folder: Path, name: str) -> Preset:
    """One by its name. Raises `BadInput` where there is none."""
    known = presets_of(folder)
    if name not in known:
        raise BadInput(f"there is no preset {name!r}", did_you_mean(name, known))
    return known[name]


def _read(file: Path) -> Preset:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise BadInput(f"{file}: cannot be read: {error}", "Write it as YAML.") from error
    if not isinstance(content, dict):
        raise BadInput(f"{file}: is no preset", "It needs `says`, `columns` and `brings`.")
    found, faults = read(Preset, content)
    if found is None:
        raise BadInput(f"{file}: {faults[0].message}", faults[0].hint)
    if unknown := sorted(found.brings.keys() - {*KINDS}):
        raise BadInput(f"{file}: brings no {unknown[0]!r}", did_you_mean(unknown[0], KINDS))
    if not (found.columns or found.lines):
        raise BadInput(f"{file}: nothing says how it is recognised", "Name `columns` or `lines`.")
    try:
        pl.Series([""]).str.contains(found.lines or "")
        check_path(found.rows or "x")
        for kind, said in found.brings.items():
            _check(kind, said)
    except (pl.exceptions.ComputeError, ValueError) as error:
        raise BadInput(f"{file}: {error}") from error
    return found


def _check(kind: str, said: dict[str, Any]) -> None:
    """Raise `ValueError` for what nothing can be brought by. A preset says no file: that is what is
    recognised."""
    known = {*ROLES.get(_ROLES_OF.get(kind, kind), ()), *_OF_FILES.get(kind, _OF_ANY)}
    if unknown := sorted(said.keys() - known):
        raise ValueError(f"brings.{kind} has {unknown[0]!r}; known are {', '.join(sorted(known))}")


def looks_like(path: Path, shown: str, kind: str) -> str | None:
    """What to do with a file that has the form of a tool, where nobody said so."""
    sample = Sample(path, str(shown))
    for name, form in _ours().items():
        kinds = [kind, *(other for other, roles in _ROLES_OF.items() if roles == kind)]
        brings = next((each for each in kinds if each in form.brings), None)
        if brings and form.columns and fits(form, sample):
            named = toml_value({"file": str(shown), **brought(form, sample)[brings]})
            return f"It looks like {form.says}: write {named}, or to an import --as {name}."
    return None


def fits(form: Preset, sample: Sample) -> bool:
    """Whether a file has a form."""
    if form.files and not any(
        fnmatch(name, form.files) for name in (sample.shown, sample.path.name)
    ):
        return False
    if form.lines:  # in a time that grows with the lines alone, whatever the pattern
        whole_line = pl.Series(sample.lines, dtype=pl.String).str.contains(f"^(?:{form.lines})$")
        return bool(sample.lines) and whole_line.all()
    rows = sample.rows(form.rows)
    return (
        bool(rows)
        and all(_is_there(column, rows) for column in form.columns)
        and all(_are(column, wanted, rows) for column, wanted in form.values.items())
    )


def _is_there(columns: str, rows: list[dict[str, Any]]) -> bool:
    """Whether one of the columns of `a | b` is in a row."""
    return any(has(row, column) for column in columns.split(" | ") for row in rows)


def _are(column: str, wanted: Any, rows: list[dict[str, Any]]) -> bool:
    """Whether all that a column holds is of a kind, or among these values."""
    held = [value for row in rows if (value := value_at(row, column)) not in (None, "", [])]
    if isinstance(wanted, list):
        known = {str(each).casefold() for each in wanted}
        return bool(held) and all(str(value).casefold() in known for value in held)
    return bool(held) and all(_OF_KIND[wanted](value) for value in held)


_OF_KIND: dict[str, Any] = {
    "number": lambda value: finite_number(value) is not None,
    "whole": lambda value: whole(value) is not None and not isinstance(value, bool),
    "fraction": lambda value: 0 <= (finite_number(value) or 0) <= 1,
    "text": lambda value: isinstance(value, str),
    "list": lambda value: isinstance(value, list) or str(value).lstrip().startswith("["),
    "word": lambda value: isinstance(value, bool) or finite_number(value) is None,
}


def brought(form: Preset, sample: Sample) -> dict[str, dict[str, Any]]:
    """What a file of a form brings, in words of gradelake.toml: (role -> column or path) by kind,
    with what of it is there."""
    rows = sample.rows(form.rows) if not form.lines else []
    found = {}
    for kind, said in form.brings.items():
        mapping = {"rows": form.rows} if form.rows else {}
        for key, value in said.items():
            if isinstance(value, str) and rows:
                value = _there(value, rows, [*said.values()])
            if value not in (None, ()):
                mapping[key] = value
        found[kind] = mapping
    return found


def _there(value: str, rows: list[dict[str, Any]], others: Sequence[Any]) -> Any:
    """The first column of `a | b` that is there; None for one that ends with ? and is not; of * all
    others that hold judgments."""
    if value == "*":
        named = {plain(each) for each in others if isinstance(each, str)}
        rest = [key for key in rows[0] if plain(key) not in named]
        return tuple(key for key in rest if _are(key, "whole", rows))
    for column in value.removesuffix("?").split(" | "):
        if _is_there(column, rows):
            return column
    return None if value.endswith("?") else value


def file_as(form: Preset, sample: Sample, kind: str) -> File:
    """A file as an import reads it by a preset. Raises `BadInput` where it brings no such kind."""
    known = brought(form, sample)
    if kind not in known:
        raise BadInput(f"{sample.shown}: {form.says} brings no {kind}", "Choose another preset.")
    return File(sample.shown, known[kind])


def names_in(sample: Sample, said: dict[str, Any], role: str) -> set[str]:
    """What a role's column holds in the first rows."""
    column = said.get(role)
    rows = sample.rows(said.get("rows")) if isinstance(column, str) else []
    held = (value_at(row, str(column)) for row in rows)
    return {str(value) for value in held if isinstance(value, str | int | float)}
