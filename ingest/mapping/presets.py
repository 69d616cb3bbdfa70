"""Forms that tools write: each is a YAML in presets/, or in a project's own folder `presets`.

A preset says how its form is recognised, and what is brought in by it, in the words of
gradelake.toml (form.py). `start` knows a folder's files by presets, and an import takes one by
`--as`. A new form is a new file here.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import polars as pl
import yaml
from pydantic import BeforeValidator, Field

from gradelake.ingest.mapping.form import ROLES, as_tuple
from gradelake.ingest.mapping.labels import is_open, proposed, whole
from gradelake.ingest.mapping.paths import check_path, has, nested, plain, value_at
from gradelake.ingest.reading.csv_tables import Table, finite_number
from gradelake.ingest.reading.heads import head_of
from gradelake.ingest.reading.rows import MARKS, Row, is_table, rows_of
from gradelake.sql.common import files
from gradelake.sql.common.checked import Checked, Text, read
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems, Rejected
from gradelake.sql.common.project import did_you_mean

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
_OF_ANY = {"rows", "only", "columns", "delimiter", "template", "short_rows"}
_OF_FILES = {
    "judgments": _OF_ANY | {"labels", "cuts", "gains"},
    "labels": _OF_ANY | {"labels", "cuts", "judge"},
    "official_ranks": set(),
    "bank": set(),
}
_OR = " | "  # between columns, or paths, of which the first is taken that is there
SAMPLE = 200  # lines or rows that are looked at
_NOTHING: tuple[Any, ...] = (None, "", [], {})
_GRADES = range(-3, 11)  # whole numbers that people judge with


_Texts = Annotated[tuple[Text, ...], BeforeValidator(as_tuple)]


class Preset(Checked):
    """One form. `columns` (or paths) and `values` are of the rows at `rows`; `lines` is a pattern
    that each line has, whose groups are columns where they have names; `table` names the columns of
    a table that has tabs and no header; `files` is a pattern of the file's name. `system` is where
    rows name theirs, of a form that has a reader of its own."""

    says: Text
    columns: _Texts = ()
    rows: Text | None = None
    lines: Text | None = None
    table: _Texts = ()
    files: Text | None = None
    system: Text | None = None
    short_rows: bool = False
    is_sure: bool = True
    values: dict[Text, Any] = Field(default={})
    brings: dict[Text, dict[Text, Any]]

    @property
    def weight(self) -> int:
        """How much it takes to be recognised: of two forms, the one that asks more is meant."""
        asked = (self.rows, self.files, self.lines)
        narrow = sum(wanted not in ("number", "text") for wanted in self.values.values())
        known = len(self.columns) + len(self.table) + len(self.values) + narrow
        return known + sum(map(bool, asked))


@dataclass
class FileSample:
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
        """The lines of a text that is no table."""
        if self.is_table:
            return []
        try:
            return [text for _, text in islice(files.lines_of(self.path, self.shown), SAMPLE)]
        except Rejected as rejected:
            self._cannot(rejected)
            return []

    @cached_property
    def _first(self) -> list[Row]:
        """The first rows as they stand, read once for all paths."""
        try:
            return [*islice(self._rows(Problems(self.shown, "")), SAMPLE)]
        except Rejected as rejected:
            self._cannot(rejected)
            return []

    def rows(self, path: str | None = None) -> list[dict[str, Any]]:
        """Rows of a table, or of a text that looks like one, at a path."""
        if path not in self._of_rows:
            found = nested(self._first, path) if path else self._first
            self._of_rows[path] = [row for _, row in islice(found, SAMPLE)]
        return self._of_rows[path]

    @cached_property
    def within(self) -> str | None:
        """Where the rows are in a file of one object that has one list of objects, as answers of
        APIs come page by page, beside what is said of them."""
        rows = self.rows()
        if len(rows) != 1 or not self.path.name.removesuffix(".gz").lower().endswith(".json"):
            return None
        lists = [
            key
            for key, held in rows[0].items()
            if isinstance(held, list) and held and all(isinstance(each, dict) for each in held)
        ]
        return f"{lists[0]}[]" if len(lists) == 1 and lists[0].isidentifier() else None

    def matched(self, pattern: str) -> list[dict[str, Any]]:
        """What the groups of a pattern find in the lines."""
        texts = pl.Series(self.lines, dtype=pl.String)
        found = texts.str.extract_groups(f"^(?:{pattern})$").struct.unnest()
        return [{key: value for key, value in row.items() if value} for row in found.to_dicts()]

    def without_header(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Rows of a text with tabs, whose columns have these names."""
        data = "\n".join(self.lines).encode()
        try:
            table = Table(data, self.shown, (), "\t", names)
            return [row for _, row in table.rows(Problems(self.shown, "").add)]
        except Rejected:
            return []

    def _rows(self, problems: Problems) -> Iterator[Row]:
        start = "".join(self.lines[:1]).lstrip()[:1]
        if self.is_table or start in ("{", "["):
            yield from rows_of(self.path, self.shown, problems)
        elif self.lines:  # no more of a text is read than its first lines
            data = "\n".join(self.lines).encode()
            head = head_of(data, MARKS)
            yield from Table(data, self.shown, (), head.mark, (), head.above).rows(problems.add)

    def _cannot(self, rejected: Rejected) -> None:
        self.why = f"{rejected.problems[0].message}; {rejected.hint}".rstrip("; ")


def presets_of(folder: Path) -> dict[str, Preset]:
    """Every preset by its name, those of a project's folder before ours.

    Raises `BadInput` for one of the project's that cannot be used.
    """
    return _ours() | {file.stem: _read(file) for file in sorted((folder / FOLDER).glob("*.yaml"))}


@cache
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
        for path in (found.rows or "x").split(_OR):
            check_path(path or "x")
        for kind, settings in found.brings.items():
            _check(kind, settings)
    except (pl.exceptions.ComputeError, ValueError) as error:
        raise BadInput(f"{file}: {error}") from error
    return found


def _check(kind: str, settings: dict[str, Any]) -> None:
    """Raise `ValueError` for what nothing can be brought by. A preset says no file: that is what is
    recognised."""
    known = {*ROLES.get(_ROLES_OF.get(kind, kind), ()), *_OF_FILES.get(kind, _OF_ANY)}
    if unknown := sorted(settings.keys() - known):
        raise ValueError(f"brings.{kind} has {unknown[0]!r}; known are {', '.join(sorted(known))}")


def fits(form: Preset, sample: FileSample) -> bool:
    """Whether a file has a form."""
    if form.files and not any(
        fnmatch(name, pattern)
        for name in (sample.shown.lower(), sample.path.name.lower())
        for pattern in form.files.split(_OR)
    ):
        return False
    if form.lines:  # in a time that grows with the lines alone, whatever the pattern
        whole_line = pl.Series(sample.lines, dtype=pl.String).str.contains(f"^(?:{form.lines})$")
        if not (sample.lines and whole_line.all()):
            return False
        if not form.table:
            return True
    if (form.rows or "").startswith("{}.") and sample.within:
        return False  # an object of objects holds no list of others
    if (form.rows or "").startswith("{}[") and not _is_of_lists(sample):
        return False
    _, rows = _rows_of(form, sample)
    return _are_of(form, rows)


def best_of(forms: Mapping[str, Preset], sample: FileSample, kind: str | None = None) -> list[str]:
    """The forms that a file has, of those that bring a kind: the sure before others, and of these
    all that ask most."""
    known = {name: form for name, form in forms.items() if kind is None or kind in form.brings}
    fitting = {name: form for name, form in known.items() if fits(form, sample)}
    fitting = {name: form for name, form in fitting.items() if form.is_sure} or fitting
    most = max((form.weight for form in fitting.values()), default=0)
    return [name for name, form in fitting.items() if form.weight == most]


def _are_of(form: Preset, rows: list[dict[str, Any]]) -> bool:
    """Whether rows have the columns of a form, and its values."""
    return (
        bool(rows)
        and all(_has(rows, column) for column in form.columns)
        and all(_are(column, wanted, rows) for column, wanted in form.values.items())
    )


def _is_of_lists(sample: FileSample) -> bool:
    """Whether a file is one object that holds a list by each key, and no row of columns."""
    rows = sample.rows()
    return len(rows) == 1 and all(isinstance(value, list) for value in rows[0].values())


def _rows_of(form: Preset, sample: FileSample) -> tuple[str | None, list[dict[str, Any]]]:
    """Where the rows of a form are, and the first of them."""
    if form.table:
        return None, sample.without_header(form.table)
    if form.lines:
        return None, sample.matched(form.lines) if "(?P<" in form.lines else []
    path, rows = _first_of(form.rows, sample)
    if not form.rows and "rag" in form.brings and sample.within and not _are_of(form, rows):
        return sample.within, sample.rows(sample.within)
    return path, rows


def _first_of(paths: str | None, sample: FileSample) -> tuple[str | None, list[dict[str, Any]]]:
    """The first of these paths at which there are rows."""
    for path in (paths or "").split(_OR):
        if rows := sample.rows(path or None):
            return path or None, rows
    return None, []


def _has(rows: list[dict[str, Any]], columns: str) -> bool:
    return any(has(row, column) for column in columns.split(_OR) for row in rows)


def _are(column: str, wanted: Any, rows: list[dict[str, Any]]) -> bool:
    """Whether all that a column holds is of a kind, or among these values."""
    found = _there(column, rows, ())
    held = [value for row in rows if (value := value_at(row, found)) not in (None, "", [])]
    if wanted == "grade":
        held = [value for value in held if not is_open(value)]
    if wanted == "counting":
        return _are_ranks(held, [value_at(row, "query") for row in rows])
    if isinstance(wanted, list):
        known = {str(each).casefold() for each in wanted}
        return bool(held) and all(str(value).casefold() in known for value in held)
    return bool(held) and all(_OF_KIND[wanted](value) for value in held)


def are_grades(rows: list[dict[str, Any]], column: str) -> bool:
    """Whether what a column holds may be judgments: words, or small whole numbers."""
    return _are(column, "word", rows) or _are(column, "grade", rows)


def _are_ranks(held: list[Any], queries: list[Any]) -> bool:
    """Whether numbers count up from 1 for one query after another, as ranks do."""
    before: tuple[Any, int] = (None, 0)
    for value, query in zip(held, queries, strict=False):
        expected = before[1] + 1 if query == before[0] else 1
        if whole(value) != expected:
            return False
        before = (query, expected)
    return before[1] > 0


_OF_KIND: dict[str, Any] = {
    "number": lambda value: finite_number(value) is not None,
    "whole": lambda value: whole(value) is not None and not isinstance(value, bool),
    "grade": lambda value: whole(value) in _GRADES and not isinstance(value, bool),
    "fraction": lambda value: 0 <= (finite_number(value) or 0) <= 1,
    "text": lambda value: isinstance(value, str),
    "list": lambda value: isinstance(value, list) or str(value).lstrip().startswith("["),
    # an id or a number, no text of several words
    "id": lambda value: isinstance(value, str | int) and len(str(value).split()) == 1,
    "word": lambda value: isinstance(value, bool) or finite_number(value) is None,
}


class Recognised(NamedTuple):
    """A form that a file has: its name, what it is, and what settings would say."""

    name: str
    says: str
    settings: dict[str, Any]


def recognised(path: Path, kind: str) -> Recognised | None:
    """The form that a file has, of those that bring this kind; None where it has none."""
    sample, forms = FileSample(path, path.name), presets_of(path.parent)
    for name in best_of(forms, sample, kind)[:1]:
        if settings := brought(forms[name], sample).get(kind):
            return Recognised(name, forms[name].says, settings)
    return None


def brought(form: Preset, sample: FileSample) -> dict[str, dict[str, Any]]:
    """What a file of a form brings, in words of gradelake.toml: (role -> column or path) by kind,
    with what of it is there."""
    found = {}
    for kind, settings in form.brings.items():
        path, rows = (
            _first_of(settings["rows"], sample) if "rows" in settings else _rows_of(form, sample)
        )
        mapping = _read_as(form, path)
        roles = {key: value for key, value in settings.items() if key != "rows"}
        for key, value in roles.items():
            if isinstance(value, str) and rows:
                value = _there(value, rows, roles.values())
            if value not in (None, []) and not (form.table and value == key):
                mapping[key] = value
        missing = [
            key
            for key, value in roles.items()
            if _is_needed(value) and key not in mapping and key not in form.table
        ]
        says_nothing = kind == "passages" and roles and not {"title", "text"} & mapping.keys()
        if not missing and not says_nothing:
            found[kind] = mapping | _scale_of(kind, mapping, rows)
    return found


def _read_as(form: Preset, path: str | None) -> dict[str, Any]:
    """What settings say of how rows are found."""
    if form.table:
        return {"columns": [*form.table], "delimiter": "\t"}
    if "(?P<" in (form.lines or ""):
        return {"lines": form.lines}
    short = {"short_rows": True} if form.short_rows else {}
    return short | ({"rows": path} if path else {})


def _is_needed(value: Any) -> bool:
    return isinstance(value, str) and not value.endswith("?")


def _scale_of(kind: str, mapping: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What settings say of judgments that are words or fractions."""
    column = mapping.get("judgment")
    if kind not in ("judgments", "labels") or not column or {"labels", "cuts"} & mapping.keys():
        return {}
    columns = column if isinstance(column, list) else [column]
    return proposed(value_at(row, each) for each in columns for row in rows) or {}


def _there(value: str, rows: list[dict[str, Any]], others: Collection[Any]) -> Any:
    """The first column of `a | b` that is there, None where none is; of * all others that hold
    judgments."""
    if value == "*":
        named = {plain(each) for each in others if isinstance(each, str)}
        rest = [key for key in rows[0] if plain(key) not in named]
        return [key for key in rest if _are(key, "whole", rows)]
    columns = [each for each in value.removesuffix("?").split(_OR) if _has(rows, each)]
    filled = (each for each in columns if any(value_at(row, each) not in _NOTHING for row in rows))
    return next(filled, next(iter(columns), None))


def names_in(sample: FileSample, settings: dict[str, Any], role: str) -> set[str]:
    """What a role's column holds in the first rows."""
    column = settings.get(role)
    rows = sample.rows(settings.get("rows")) if isinstance(column, str) else []
    held = (value_at(row, str(column)) for row in rows)
    return {str(value) for value in held if isinstance(value, str | int | float)}
