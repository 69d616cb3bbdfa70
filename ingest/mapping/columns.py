"""Columns of a table by what they are to us: a row of any table becomes {role: value}."""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from gradelake.ingest.mapping.form import DEEPEVAL, LISTS, NUMBERED, ROLES, SETTINGS, settings_of
from gradelake.ingest.mapping.labels import Scale, whole
from gradelake.ingest.mapping.numbers import with_points
from gradelake.ingest.mapping.paths import has, key_of, nested, plain, value_at
from gradelake.ingest.mapping.presets import Recognised, recognised
from gradelake.ingest.reading.csv_tables import finite_number
from gradelake.ingest.reading.lists import list_of
from gradelake.ingest.reading.rows import ALL, NOTHING, Row, known_types, rows_of
from gradelake.sql.common.problems import Problems, reject
from gradelake.sql.common.quoting import toml_value

_SLOT = re.compile(r"\{([^{}]+)\}")
# impressions and clicks of an event, as UBI, Algolia and others call them
_EVENTS = {
    **dict.fromkeys(("click", "product_click", "item_click", "select_item"), (1, 1)),
    **dict.fromkeys(("impression", "view", "on_search", "view_item_list"), (1, 0)),
}
_CLICKED = {"true": "1", "yes": "1", "false": "0", "no": "0"}
_IDS = {"query", "passage"}  # which CSVs may have as 3.0, the same as 3
# whose commas a whole column explains
_NUMBERS = {"rank", "score", "stderr", "judgment", "weight", "position", "clicks", "impressions"}
_TEXTS = {"answer", "question", "text"}  # which may begin with a mark such as [1]
# what a spreadsheet shows where a formula failed
_ERRORS = {"#REF!", "#N/A", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#SPILL!"}
_LISTED = 12  # columns that a message names
_TYPES = {  # of columns that are not texts
    **dict.fromkeys(("rank", "position"), pl.Int32),
    **dict.fromkeys(("relevance", "n_impressions", "n_clicks", "line"), pl.Int64),
    **dict.fromkeys(("score", "gain"), pl.Float64),
}


def roles_of(
    kind: str,
    path: Path,
    shown: str,
    required: Sequence[str],
    problems: Problems,
    also: Sequence[str] = (),
) -> Iterator[Row]:
    """What `mapped` makes of a table's rows."""
    rows = rows_of(path, shown, problems)
    return mapped(kind, path, shown, rows, problems, required, also)


def mapped(
    kind: str,
    path: Path,
    shown: str,
    rows: Iterable[Row],
    problems: Problems,
    required: Sequence[str] = (),
    also: Sequence[str] = (),
) -> Iterator[Row]:
    """(line, {role: value}) of rows, with the columns `also`, by their own names. Values are texts,
    or lists; a role without a column is not in a row. Rows with a cell that cannot be read are
    added to the problems.

    Raises `Rejected` where the first row lacks a required role's column, or one that a setting
    names.
    """
    found = _mapped(kind, path, shown, rows, problems, required, also)
    return with_points(found, [role for role in ROLES[kind] if role in _NUMBERS], problems)


def _mapped(
    kind: str,
    path: Path,
    shown: str,
    rows: Iterable[Row],
    problems: Problems,
    required: Sequence[str],
    also: Sequence[str],
) -> Iterator[Row]:
    knows = known_types(path)
    known: dict[tuple[str, ...], dict[str, str]] = {}  # objects of JSON may differ in their keys
    template = settings_of(shown).get("template")
    raters = raters_of(kind, shown)
    is_short = settings_of(shown).get("short_rows", False)
    for line, row in meant(rows, shown):
        if (keys := tuple(row)) not in known:
            known[keys] = columns_of(kind, shown, row) | {own: own for own in also if own in row}
            if len(known) == 1:
                _require(kind, row, known[keys], required, shown, path)
        try:
            roles = _roles(kind, row, known[keys], knows)
            if template:
                roles["text"] = _filled(template, row)
        except ValueError as error:
            problems.add(line, str(error))
            continue
        if is_short and not roles.get("passage", True):
            continue  # a query that nobody judged yet, or that found nothing
        if not raters:
            yield line, roles
        for rater in raters:
            yield line, roles | {"judgment": _cell(row, rater), "rater": rater}


def meant(rows: Iterable[Row], shown: str) -> Iterator[Row]:
    """The rows that settings mean: those at a path, with the values that they name."""
    settings = settings_of(shown)
    if "rows" in settings:
        rows = nested(rows, settings["rows"])
    only = settings.get("only", {})
    for line, row in rows:
        if all(_is(value_at(row, column), wanted) for column, wanted in only.items()):
            yield line, row


def _is(value: Any, wanted: Any) -> bool:
    """Whether a cell has a value, or one of several; as texts, for many forms know nothing else."""
    several = wanted if isinstance(wanted, list | tuple) else [wanted]
    return str(_value(value)).casefold() in {str(each).casefold() for each in several}


def raters_of(kind: str, shown: str) -> Sequence[str]:
    """The columns that hold a rater's judgments each, where settings name several."""
    named = settings_of(shown).get("judgment", "") if kind == "judgments" else ""
    return () if isinstance(named, str) else named


def _roles(kind: str, row: dict[str, Any], columns: dict[str, str], knows: str) -> dict[str, Any]:
    """What a row of a form that knows these types says. Raises `ValueError`."""
    roles = {}
    for role, column in columns.items():
        try:
            roles[role] = _read(kind, role, _cell(row, column), knows)
        except ValueError as error:
            raise ValueError(f"{role}: {error}") from error
    contexts = roles.get("contexts")
    if knows == NOTHING and isinstance(contexts, str) and {*map(plain, row)} >= DEEPEVAL:
        roles["contexts"] = contexts.split("|")
    return roles


def columns_of(kind: str, shown: str, row: dict[str, Any]) -> dict[str, str]:
    """The column of each role that a row has: the one that the settings name, which may be a path,
    or the first of the usual names that no other role has. A list may have columns with a number
    each."""
    stated = _stated(kind, shown)
    columns = {
        role: key_of(row, column) or column for role, column in stated.items() if has(row, column)
    }
    by_name = {plain(key): key for key in reversed(row)}
    for role, usual in ROLES[kind].items():
        if role in settings_of(shown) or (role == "judgment" and raters_of(kind, shown)):
            continue
        there = (
            by_name.get(plain(name), name)
            for name in usual
            if plain(name) in by_name or (role in NUMBERED and _numbered(row, name))
        )
        if column := next((name for name in there if name not in columns.values()), None):
            columns[role] = column
    if template := settings_of(shown).get("template"):
        columns = {role: column for role, column in columns.items() if role != "title"}
        columns["text"] = template
    if "rank" in stated and "score" not in stated:  # by rank is what was asked for
        columns.pop("score", None)
    return {role: columns[role] for role in ROLES[kind] if role in columns}


def _stated(kind: str, shown: str) -> dict[str, str]:
    """The columns and paths that settings name, by their roles."""
    settings = settings_of(shown)
    return {role: settings[role] for role in ROLES[kind] if isinstance(settings.get(role), str)}


def _numbered(row: dict[str, Any], name: str) -> list[str]:
    """The columns of a list, such as contexts_1 and contexts_2, in their order."""
    pattern = re.compile(rf"{re.escape(plain(name))}(\d{{1,9}})")
    numbers = {int(found[1]): each for each in row if (found := pattern.fullmatch(plain(each)))}
    return [numbers[n] for n in sorted(numbers)]


def _read(kind: str, role: str, value: Any, knows: str) -> Any:
    """What a role's cell holds in a form that knows these types. Raises `ValueError`."""
    if not isinstance(value, str) or knows == ALL:
        return value
    if knows == NOTHING and value in _ERRORS:
        raise ValueError(f"{value} is an error of a spreadsheet, not a value")
    if knows == NOTHING and role in _IDS and value.endswith(".0") and value[:-2].isdecimal():
        return value[:-2]
    if role not in LISTS.get(kind, ()):
        return value
    try:
        found = list_of(value)
    except ValueError:
        if role in _TEXTS:
            return value
        raise
    is_mark = role in _TEXTS and not any(isinstance(each, str | dict) for each in found or ())
    return value if found is None or is_mark else found


def _cell(row: dict[str, Any], column: str) -> Any:
    if column in row:
        return _value(row[column])
    if numbered := _numbered(row, column):
        return [_value(row[each]) for each in numbered]
    return _value(value_at(row, column))


def _require(
    kind: str,
    row: dict[str, Any],
    columns: dict[str, str],
    required: Sequence[str],
    shown: str,
    path: Path,
) -> None:
    there = ", ".join([*row][:_LISTED]) + (", ..." if len(row) > _LISTED else "")
    slots = map(_slot, _SLOT.finditer(settings_of(shown).get("template", "")))
    for column in (*_stated(kind, shown).values(), *raters_of(kind, shown), *slots):
        if not has(row, column):
            fix = "Name one of these in gradelake.toml."
            raise reject(shown, None, f"has no column {column!r}; its columns are {there}", fix)
    for role in required:
        if role not in columns and not (role == "judgment" and raters_of(kind, shown)):
            usual = ", ".join(ROLES[kind][role])
            what = f"no column for the {role} (usual names: {usual}); its columns are {there}"
            form = recognised(path, kind) if "rows" not in settings_of(shown) else None
            if form:
                what = f"looks like {form.says}, and is read as a table: {what}"
            raise reject(shown, None, what, _remedy(kind, role, shown, form))


def _remedy(kind: str, role: str, shown: str, form: Recognised | None) -> str:
    """How to say what is meant: all that a known form brings, or the column of a role."""
    if form and kind in SETTINGS:
        line = toml_value({"file": shown, **form.settings})
        return f"Say so in gradelake.toml: {line}; or to an import: --as {form.name}."
    if kind not in SETTINGS:
        return f"Rename the column that is meant: {ROLES[kind][role][0]}."
    of_import = f"; or to an import: --column {role}=COLUMN" if kind == "judgments" else ""
    named = f'{{ file = {toml_value(shown)}, {role} = "COLUMN" }}'
    return f"Name the one that is meant in gradelake.toml: {named}{of_import}."


def _slot(slot: re.Match[str]) -> str:
    return slot[1].strip()


def _filled(template: str, row: dict[str, Any]) -> str:
    return _SLOT.sub(lambda slot: str(_value(value_at(row, _slot(slot)))), template).strip()


def _value(value: Any) -> Any:
    """A cell as text, without blanks around it; a number that is whole without a fraction."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float | Decimal):
        return "" if value != value else str(int(value) if value == value // 1 else value)
    if isinstance(value, bytes):
        return _decoded(value).strip()
    if isinstance(value, list):
        return [_decoded(each) if isinstance(each, bytes) else each for each in value]
    if isinstance(value, dict | bool):
        return value
    return "" if value is None else str(value).strip()


def _decoded(value: bytes) -> str:
    """A binary cell's text. Raises `ValueError` for what is none."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise ValueError("bytes that are no UTF-8; write the column as text") from None


def _pairs(
    kind: str,
    path: Path,
    shown: str,
    required: Sequence[str],
    problems: Problems,
    also: Sequence[str] = (),
) -> Iterator[tuple[int, dict[str, Any]]]:
    """What `roles_of` finds, of the rows that name a query and a passage."""
    for line, row in roles_of(kind, path, shown, ("query", "passage", *required), problems, also):
        query, passage = row.get("query"), row.get("passage")
        listed = isinstance(passage, list) and kind == "runs"
        if query and isinstance(query, str) and passage and (listed or isinstance(passage, str)):
            yield line, row
        else:
            problems.add(line, f"no {'passage' if query and isinstance(query, str) else 'query'}")


def read_run(path: Path, shown: str) -> pl.DataFrame:
    """Rankings of a table: system (null where it has no such column), query_id, passage_id, rank,
    score, line. Without a score it is ranked by rank; a list of passages is ranked as it stands.

    Raises `Rejected` with all rows that have no query, no passage, or neither rank nor score.
    """
    problems = Problems(shown, "Fix these rows, or leave the file out, and ingest again.")
    found: list[tuple[Any, ...]] = []
    for line, row in _pairs("runs", path, shown, (), problems):
        of_row, passages = (row.get("system") or None, row["query"]), row["passage"]
        if isinstance(passages, list):
            ranked = enumerate(map(_value, passages), start=1)
            found += [(*of_row, passage, n, float(-n), line) for n, passage in ranked]
            continue
        rank, score = (finite_number(row.get(role)) for role in ("rank", "score"))
        for role, number in (("rank", rank), ("score", score)):
            if number is None and row.get(role):
                problems.add(line, f"{role} {row[role]!r} is not a number")
        if rank is None and score is None:
            problems.add(line, "neither a rank nor a score")
        else:
            by_score = score if score is not None else -(rank or 0.0)
            found.append((*of_row, passages, whole(rank), by_score, line))
    problems.raise_if_any()
    return _frame(found, "system", "query_id", "passage_id", "rank", "score", "line")


def read_judgments(path: Path, shown: str, also: Sequence[str] = ()) -> pl.DataFrame:
    """Judgments of a table: rater (null where it has no such column), query_id, passage_id,
    relevance (null where the row is not judged yet), gain (null where that is it), line; and the
    columns `also`, as texts.

    Raises `Rejected` with all rows that have no query or passage, or a judgment that is no whole
    number.
    """
    problems = Problems(shown, "A judgment is a whole number; leave what is not judged empty.")
    scale = Scale(settings_of(shown))
    found = []
    for line, row in _pairs("judgments", path, shown, ("judgment",), problems, also):
        number = gain = None
        try:
            number = scale.label_of(row.get("judgment"))
            gain = scale.gain_of(row.get("judgment"))
        except ValueError as error:
            problems.add(line, str(error))
        named = (row.get("rater") or None, row["query"], row["passage"])
        found.append((*named, number, gain, line, *map(row.get, also)))
    problems.hint = scale.advice() or problems.hint
    problems.raise_if_any()
    return _frame(found, "rater", "query_id", "passage_id", "relevance", "gain", "line", *also)


def read_clicks(path: Path, shown: str) -> pl.DataFrame:
    """A log of what was shown and clicked: query_id, passage_id, position, day, n_impressions,
    n_clicks, line. A row without impressions is one of them; `true` and `yes` are a click. Rows may
    be events, too, of which each says that something was shown, or clicked.

    Raises `Rejected` with all rows whose position or counts cannot be.
    """
    problems = Problems(shown, "A row says what was shown where, and how often it was clicked.")
    found: list[tuple[Any, ...]] = []
    role = "event" if "event" in settings_of(shown) else "clicks"
    for line, row in _pairs("clicks", path, shown, ("position", role), problems):
        value = str(row.get(role) or "0").lower()
        if role == "event" and value not in _EVENTS:
            continue  # such as a purchase
        stated = (row.get("impressions") or "1", _CLICKED.get(value, value))
        counts = [row.get("position"), *(_EVENTS[value] if role == "event" else stated)]
        position, shown_times, clicked = map(whole, counts)
        if position is None or shown_times is None or clicked is None:
            problems.add(line, f"position, impressions and clicks are {counts}, not whole numbers")
        elif position < 1 or not 0 <= clicked <= shown_times or not shown_times:
            what = f"{clicked} clicks of {shown_times} impressions at position {position}"
            problems.add(line, f"{what} cannot be")
        else:
            of_row = (row["query"], row["passage"], position, row.get("day", ""))
            found.append((*of_row, shown_times, clicked, line))
    problems.raise_if_any()
    columns = ("query_id", "passage_id", "position", "day", "n_impressions", "n_clicks", "line")
    frame = _frame(found, *columns)
    return _of_events(frame) if role == "event" else frame


def _of_events(frame: pl.DataFrame) -> pl.DataFrame:
    """Counts of events. What was shown and then clicked is two of them, and one impression; of what
    is clicked alone, each click is one."""
    of_place = ("query_id", "passage_id", "position", "day")
    clicks = pl.col("n_clicks").sum()
    shown = pl.max_horizontal(pl.col("n_impressions").sum() - clicks, clicks)
    return frame.group_by(of_place, maintain_order=True).agg(
        shown.alias("n_impressions"), clicks, pl.col("line").first()
    )


def _frame(rows: Sequence[tuple[Any, ...]], *columns: str) -> pl.DataFrame:
    types = {column: _TYPES.get(column, pl.String) for column in columns}
    return pl.DataFrame(rows, schema=types, orient="row", strict=False)
