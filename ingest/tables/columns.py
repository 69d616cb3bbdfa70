"""Columns of a table by what they are to us: a row of any table becomes {role: value}."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from gradelake.ingest.csv_tables import finite_number
from gradelake.ingest.tables.form import PLAIN, ROLES, Form
from gradelake.ingest.tables.reading import rows_of
from gradelake.sql.common.problems import Problems, reject

_SLOT = re.compile(r"\{([^{}]+)\}")
_CLICKED = {"true": "1", "yes": "1", "false": "0", "no": "0"}
_IDS = {"query", "passage"}  # which CSVs may have as 3.0, the same as 3
_LISTED = 12  # columns that a message names
_TYPES = {  # of columns that are not texts
    **dict.fromkeys(("rank", "position"), pl.Int32),
    **dict.fromkeys(("relevance", "n_impressions", "n_clicks", "line"), pl.Int64),
    "score": pl.Float64,
}


def roles_of(
    kind: str,
    path: Path,
    shown: str,
    form: Form | None,
    required: Sequence[str],
    problems: Problems,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, {role: value}) of a table's rows. Values are texts, or lists where JSON has them; a
    role without a column, or with an empty cell, is not in a row.

    Raises `Rejected` where the first row lacks a required role's column, or one that a setting
    names.
    """
    form = form or PLAIN
    known: dict[frozenset[str], dict[str, str]] = {}  # objects of JSON may differ in their keys
    for line, row in rows_of(path, shown, form, problems):
        keys = frozenset(row)
        if keys not in known:
            known[keys] = columns_of(kind, form, row)
            if len(known) == 1:
                _require(kind, form, row, known[keys], required, shown)
        roles = {role: _value(row.get(column)) for role, column in known[keys].items()}
        for role in _IDS & roles.keys():
            if (said := str(roles[role])).endswith(".0") and said[:-2].isdecimal():
                roles[role] = said[:-2]
        if template := getattr(form, "template", None):
            roles["text"] = _filled(template, row)
        yield line, {role: value for role, value in roles.items() if value != ""}


def columns_of(kind: str, form: Form, row: dict[str, Any]) -> dict[str, str]:
    """The column of each role that a row has: the one that the settings name, or the first of the
    usual names that no other role has."""
    stated = {role: column for role in ROLES[kind] if (column := form.column(role))}
    columns = {role: column for role, column in stated.items() if column in row}
    for role, usual in ROLES[kind].items():
        free = (name for name in usual if name in row and name not in columns.values())
        if role not in stated and (column := next(free, None)):
            columns[role] = column
    if template := getattr(form, "template", None):
        columns = {role: column for role, column in columns.items() if role != "title"}
        columns["text"] = template
    if "rank" in stated and "score" not in stated:  # by rank is what was asked for
        columns.pop("score", None)
    return {role: columns[role] for role in ROLES[kind] if role in columns}


def _require(
    kind: str,
    form: Form,
    row: dict[str, Any],
    columns: dict[str, str],
    required: Sequence[str],
    shown: str,
) -> None:
    there = ", ".join([*row][:_LISTED]) + (", ..." if len(row) > _LISTED else "")
    named = [column for role in ROLES[kind] if (column := form.column(role))]
    named += [_slot(slot) for slot in _SLOT.finditer(getattr(form, "template", None) or "")]
    for column in named:
        if column not in row:
            fix = "Name one of these in gradelake.toml."
            raise reject(shown, None, f"has no column {column!r}; its columns are {there}", fix)
    for role in required:
        if role not in columns:
            usual = ", ".join(ROLES[kind][role])
            raise reject(
                shown,
                None,
                f"no column for the {role} (usual names: {usual}); its columns are {there}",
                f'Name the one that is meant in gradelake.toml: {{ file = "{shown}", '
                f'{role} = "COLUMN" }}.',
            )


def _slot(slot: re.Match[str]) -> str:
    return slot[1].strip().lower()


def _filled(template: str, row: dict[str, Any]) -> str:
    return _SLOT.sub(lambda slot: str(_value(row.get(_slot(slot)))), template).strip()


def _value(value: Any) -> Any:
    """A cell as text, without blanks around it; a number that is whole without a fraction."""
    if value is None or isinstance(value, list | dict):
        return "" if value is None else value
    if isinstance(value, float):
        return "" if value != value else str(int(value)) if value.is_integer() else repr(value)
    return str(value).strip()


def read_run(path: Path, shown: str, form: Form | None) -> pl.DataFrame:
    """Rankings of a table: system (null where it has no such column), query_id, passage_id, rank,
    score, line. Without a score it is ranked by rank; a list of passages is ranked as it stands.

    Raises `Rejected` with all rows that have no query, no passage, or neither rank nor score.
    """
    problems = Problems(shown, "Fix these rows, or leave the file out, and ingest again.")
    found: list[tuple[Any, ...]] = []
    for line, row in roles_of("runs", path, shown, form, ("query", "passage"), problems):
        query, passages, system = (row.get(role) for role in ("query", "passage", "system"))
        if not query or not passages:
            problems.add(line, f"no {'passage' if query else 'query'}")
        elif isinstance(passages, list):
            ranked = enumerate(map(_value, passages), start=1)
            found += [(system, query, passage, n, float(-n), line) for n, passage in ranked]
        else:
            rank, score = (finite_number(row.get(role)) for role in ("rank", "score"))
            for role, number in (("rank", rank), ("score", score)):
                if number is None and role in row:
                    problems.add(line, f"{role} {row[role]!r} is not a number")
            if rank is None and score is None:
                problems.add(line, "neither a rank nor a score")
            else:
                whole = int(rank) if rank is not None and rank.is_integer() else None
                number = score if score is not None else -(rank or 0.0)
                found.append((system, query, passages, whole, number, line))
    problems.raise_if_any()
    return _frame(found, "system", "query_id", "passage_id", "rank", "score", "line")


def read_judgments(path: Path, shown: str, form: Form | None) -> pl.DataFrame:
    """Judgments of a table: rater (null where it has no such column), query_id, passage_id,
    relevance, line. Rows without a judgment are not judged, and left out.

    Raises `Rejected` with all rows that have no query or passage, or a judgment that is no whole
    number.
    """
    problems = Problems(shown, "A judgment is a whole number; leave what is not judged empty.")
    required = ("query", "passage", "judgment")
    found = []
    for line, row in roles_of("judgments", path, shown, form, required, problems):
        query, passage, said = (row.get(role) for role in required)
        number = finite_number(said)
        if not query or not passage:
            problems.add(line, f"no {'passage' if query else 'query'}")
        elif said is not None and (number is None or not number.is_integer()):
            problems.add(line, f"judgment {said!r} is not a whole number")
        elif number is not None:
            found.append((row.get("rater"), query, passage, int(number), line))
    problems.raise_if_any()
    return _frame(found, "rater", "query_id", "passage_id", "relevance", "line")


def read_clicks(path: Path, shown: str, form: Form | None) -> pl.DataFrame:
    """A log of what was shown and clicked: query_id, passage_id, position, day, n_impressions,
    n_clicks, line. A row without impressions is one of them; `true` and `yes` are a click.

    Raises `Rejected` with all rows whose position or counts cannot be.
    """
    problems = Problems(shown, "A row says what was shown where, and how often it was clicked.")
    required = ("query", "passage", "position", "clicks")
    found: list[tuple[Any, ...]] = []
    for line, row in roles_of("clicks", path, shown, form, required, problems):
        said = str(row.get("clicks", "0")).lower()
        counts = [row.get("position"), row.get("impressions", "1"), _CLICKED.get(said, said)]
        numbers = [finite_number(each) for each in counts]
        if any(number is None or not number.is_integer() for number in numbers):
            problems.add(line, f"position, impressions and clicks are {counts}, not whole numbers")
            continue
        position, shown_times, clicked = (int(number) for number in numbers if number is not None)
        if not row.get("query") or not row.get("passage"):
            problems.add(line, f"no {'passage' if row.get('query') else 'query'}")
        elif position < 1 or not 0 <= clicked <= shown_times or not shown_times:
            what = f"{clicked} clicks of {shown_times} impressions at position {position}"
            problems.add(line, f"{what} cannot be")
        else:
            day = row.get("day", "")
            found.append((row["query"], row["passage"], position, day, shown_times, clicked, line))
    problems.raise_if_any()
    columns = ("query_id", "passage_id", "position", "day", "n_impressions", "n_clicks", "line")
    return _frame(found, *columns)


def _frame(rows: Sequence[tuple[Any, ...]], *columns: str) -> pl.DataFrame:
    return pl.DataFrame(
        rows, schema={column: _TYPES.get(column, pl.String) for column in columns}, orient="row"
    )
