"""Reads per-criterion grades: a JSON object from pairs to the grades of several criteria."""

import ast
import json
from collections import Counter
from collections.abc import Collection
from typing import Any

from gradelake.grading.exchange.criteria_graders import JudgePerCriterion, OneGrader
from gradelake.grading.exchange.workbench import Found, Rows, as_grades, reject_other_collection
from gradelake.grading.exchange.workbench_values import Fault, short, text_of, whole
from gradelake.sql.common import files
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.problems import Problems, reject

JUDGED_TO = 3  # top of the scale where nobody says which it is
HINT = (
    'Such a file is one JSON object, {"(QUERY, PASSAGE)": {"CRITERION": GRADE, ...}, ...}; the '
    "other format read here has lines [query_id, [paragraph, ...]]."
)


class _Pairs(list):
    """A JSON object as its (key, value) pairs, so that a key that is there twice shows."""


def read_criteria(
    data: bytes,
    shown: str,
    queries: Collection[str],
    graders: JudgePerCriterion | OneGrader,
    into: Rows,
) -> Found:
    """Every grade of the pairs whose query is in `queries`, as the grades of `graders`, into
    `into`.

    A null grade is a failed one. Of a pair that is there twice the first is kept. Raises
    `Rejected` naming what is no pair or no grade, or off the grader's scale, and when none of its
    queries is known.
    """
    content = _parse(data.decode(), shown)
    problems = Problems(shown, HINT)
    counts: Counter[str] = Counter()
    unknown: dict[str, None] = {}
    known = set(queries)
    query_ids: dict[str, None] = {}
    rows: dict[tuple[str, str, str, str], tuple] = {}
    for key, criteria in content:
        try:
            query_id, passage_id = _pair(key)
            if not isinstance(criteria, _Pairs):
                raise Fault(f"what {key} has is {short(criteria)}, not an object")
            given = [
                (text_of(name, f"a criterion of {key}"), _grade(value, name, key, graders.scale))
                for name, value in criteria
            ]
        except Fault as fault:
            problems.add(_line_of(key, data), str(fault))
            continue
        if query_id not in known:
            unknown[query_id] = None
            continue
        query_ids[query_id] = None
        counts["pairs"] += 1
        counts["pairs_without_criterion"] += not given
        for name, grade in given:
            grader_id, item_id = graders.place(name, query_id)
            row = (grader_id, query_id, passage_id, item_id)
            if row in rows:
                counts["repeated_grades"] += 1
            elif grade is None:
                rows[row] = (None, "failed", None, None, "the file has no grade (null)", None)
            else:
                rows[row] = (grade, "ok", None, None, None, None)
    problems.raise_if_any()
    if unknown and not counts["pairs"]:
        raise reject_other_collection(shown, [*unknown])
    into.add("grades", as_grades([(*key, *row) for key, row in rows.items()], utc_now()))
    return Found(
        graders.rows,
        {} if graders.scale else dict.fromkeys(graders.rows, JUDGED_TO),
        items=graders.items(query_ids),
        counts=dict(counts),
        unknown_queries=[*unknown],
    )


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


def _grade(value: Any, name: str, key: str, scale: tuple[int, int] | None) -> int | None:
    if value is None:
        return None
    what = f"{name} of {key}"
    grade = whole(value, what)
    if scale and not scale[0] <= grade <= scale[1]:
        raise Fault(f"{what} is {grade}, off the scale {scale[0]}-{scale[1]}")
    return grade


def _line_of(key: str, data: bytes) -> int | None:
    """The line that a key stands on."""
    at = data.find(json.dumps(key, ensure_ascii=False).encode())
    return data.count(b"\n", 0, at) + 1 if at >= 0 else None
