"""Reads per-criterion grades: a JSON object from pairs to the grades of several criteria."""

import ast
import json
from collections import Counter
from collections.abc import Collection
from typing import Any

import polars as pl

from grading.exchange.workbench import GRADES, Found, imported_grader, with_scales
from grading.exchange.workbench_values import Fault, short, whole
from sql import files
from sql.problems import Problems, reject
from sql.transaction import utc_now

SCALE_MAX = 3
HINT = (
    'Such a file is one JSON object, {"(QUERY, PASSAGE)": {"CRITERION": GRADE, ...}, ...}; the '
    "other format read here has lines [query_id, [paragraph, ...]]."
)


class _Pairs(list):
    """A JSON object as its (key, value) pairs, so that a key that is there twice shows."""


def read_criteria(data: bytes, shown: str, queries: Collection[str], prefix: str) -> Found:
    """Every grade of the pairs whose query is in `queries`; each criterion is a direct judge.

    A judge is named `prefix.Criterion`, its model is `prefix`; its scale is 0-3, or wider when
    its grades are. A null grade is a failed one. Of a pair that is there twice the first is kept.
    Raises `Rejected` naming what is no pair or no grade, and when none of
    its queries is known.
    """
    content = _parse(data.decode(), shown)
    problems = Problems(shown, HINT)
    counts: Counter[str] = Counter()
    unknown: dict[str, None] = {}
    known, now = set(queries), utc_now()
    graders: dict[str, dict[str, Any]] = {}
    ids: dict[str, str] = {}
    rows: dict[tuple[str, str, str], tuple[int | None, str, str | None]] = {}
    for key, criteria in content:
        try:
            query_id, passage_id = _pair(key)
            if not isinstance(criteria, _Pairs):
                raise Fault(f"what {key} has is {short(criteria)}, not an object")
            grades = [(name, _grade(value, f"{name} of {key}")) for name, value in criteria]
        except Fault as fault:
            problems.add(_line_of(key, data), str(fault))
            continue
        if query_id not in known:
            unknown[query_id] = None
            continue
        counts["pairs"] += 1
        counts["pairs_without_criterion"] += not grades
        for name, grade in grades:
            if name not in ids:
                grader = _judge(prefix, name, now)
                ids[name] = grader["grader_id"]
                graders[grader["grader_id"]] = grader
            row = (ids[name], query_id, passage_id)
            if row in rows:
                counts["repeated_grades"] += 1
            elif grade is None:
                rows[row] = (None, "failed", "the file has no grade (null)")
            else:
                rows[row] = (grade, "ok", None)
    problems.raise_if_any()
    if unknown and not counts["pairs"]:
        raise reject(
            shown, None,
            f"none of its queries is in the collection ({', '.join(list(unknown)[:5])} ...)",
            "Is this the collection that was graded? Ingest its topics first.",
        )  # fmt: skip
    grades = pl.DataFrame(
        [(*key, "", *row) for key, row in rows.items()], orient="row",
        schema={name: GRADES[name] for name in
                ("grader_id", "query_id", "passage_id", "item_id", "grade", "status", "error")},
    ).with_columns(pl.lit(now, GRADES["graded_at"]).alias("graded_at"))  # fmt: skip
    absent = [name for name in GRADES if name not in grades.columns]
    grades = grades.with_columns(pl.lit(None, GRADES[name]).alias(name) for name in absent)
    with_scales(graders, grades, {"direct": SCALE_MAX})
    return Found(graders, grades.select(*GRADES), counts=dict(counts), unknown_queries=[*unknown])


def _parse(text: str, shown: str) -> _Pairs:
    try:
        content = files.parse_json(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise reject(
            shown, error.lineno, f"not JSON: {error.msg} at column {error.colno}", HINT
        ) from error
    except ValueError as error:
        raise reject(shown, None, f"not JSON: {error}", HINT) from error
    if not isinstance(content, _Pairs) or not content:
        raise reject(shown, 1, "not a JSON object with pairs", HINT)
    return content


def _pair(key: str) -> tuple[str, str]:
    """(query id, passage id) of a key: a Python tuple, written as a string."""
    try:
        pair = ast.literal_eval(key.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pair = None
    is_pair = isinstance(pair, tuple) and len(pair) == 2
    if not is_pair or any(isinstance(i, bool) or not isinstance(i, int | str) for i in pair):
        raise Fault(f"{key!r} is no pair (QUERY, PASSAGE)")
    if "" in pair:
        raise Fault(f"{key!r} has an empty id")
    return str(pair[0]), str(pair[1])


def _grade(value: Any, what: str) -> int | None:
    return None if value is None else whole(value, what)


def _line_of(key: str, data: bytes) -> int | None:
    """The line that a key stands on."""
    at = data.find(json.dumps(key, ensure_ascii=False).encode())
    return data.count(b"\n", 0, at) + 1 if at >= 0 else None


def _judge(prefix: str, criterion: str, now: Any) -> dict[str, Any]:
    return imported_grader(
        model=prefix, prompt=criterion.strip(), target="direct", parser="published",
        decoding={"criterion": criterion}, prefix=None, created_at=now,
    )  # fmt: skip
