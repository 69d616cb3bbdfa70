"""What the lake's rows do not tell of a graded paragraph: noted by an import, given back by an
export.

It waits in `raw.brought_along` as one object: `keys` of the paragraph (its markup is one) and of
its `data`, `entries` by the grader's id (unknown keys, errors with the prompts that failed),
`judgments` by assessor and `rankings`, where they hold more than their rows, such as a subtopic.
"""

import json
from collections.abc import Iterable
from typing import Any

from gradelake.grading.exchange.workbench_format import (
    DirectEntry,
    ExamEntry,
    Object,
    Paragraph,
    ParagraphData,
)

Row = dict[str, Any]
# what is written here was read from JSON, or from rows: no value holds itself
as_json = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


def _keys(*models: type[Object]) -> set[str]:
    return {field.alias or name for model in models for name, field in model.model_fields.items()}


_PARAGRAPH, _DATA = _keys(Paragraph), _keys(ParagraphData)
# not the errors, which hold more than is read in them: the prompts that failed
_ENTRY = _keys(ExamEntry, DirectEntry) - {"llm_response_errors", "llm_response_error"}
_JUDGMENT = {"paragraphId", "query", "relevance", "titleQuery"}
_RANKING = {"method", "paragraphId", "queryId", "rank", "score"}


def of_entry(entry: Row, grades: list[int | None], is_direct: bool, is_read_anew: bool) -> Row:
    """What an entry holds beside the grades that were read in it; its ratio is of its own."""
    beside = _others(entry, _ENTRY)
    if is_read_anew:
        return beside
    if is_direct:
        return beside | ({"self_ratings": None} if entry.get("self_ratings") is None else {})
    ratio = sum((grade or 0) > 0 for grade in grades) / len(grades)
    if entry.get("exam_ratio") not in (None, ratio):
        beside["exam_ratio"] = entry["exam_ratio"]
    return beside


def of_paragraph(
    paragraph: Row, entries: dict[str, Row], plain: Row, assessor: str | None, systems: bool
) -> Row:
    """What a paragraph holds beside its rows; empty when that is nothing.

    `plain` are the values that every plain judgment and ranking of it has; the judgments are taken
    in as `assessor`'s, the rankings as `systems`.
    """
    data = paragraph.get("paragraph_data") or {}
    judgments, rankings = data.get("judgments") or [], data.get("rankings") or []
    found: Row = {
        "keys": _others(paragraph, _PARAGRAPH),
        "data": _others(data, _DATA),
        "entries": {grader_id: beside for grader_id, beside in entries.items() if beside},
    }
    theirs = [one for one in judgments if one.get("assessor") in (None, assessor)]
    if assessor and not all(_is_plain(one, _JUDGMENT | {"assessor"}, plain) for one in theirs):
        found["judgments"] = {assessor: theirs}
    if systems and not all(_is_plain(one, _RANKING, plain) for one in rankings):
        found["rankings"] = rankings
    return {what: beside for what, beside in found.items() if beside}


def together(contents: Iterable[Row]) -> Row:
    """What several files or lines brought along of one paragraph; the first that says a thing
    counts."""
    merged: Row = {}
    for content in contents:
        for what, beside in content.items():
            if what == "rankings":
                known = merged.get(what, [])
                methods = {ranking["method"] for ranking in known}
                merged[what] = known + [one for one in beside if one["method"] not in methods]
            else:
                merged[what] = beside | merged.get(what, {})
    return merged


def judgments_of(rows: list[Row], beside: Row) -> list[Row]:
    """A passage's judgments, an assessor's as the file had them where that says more; not where
    the assessor's row now comes from elsewhere, and says otherwise."""
    judged: list[Row] = []
    for row in rows:
        assessor = row["assessor"]
        of_file = beside.get("judgments", {}).get(assessor, [])
        is_row = max((one["relevance"] for one in of_file), default=None) == row["relevance"]
        judged += [one | {"assessor": assessor} for one in of_file] if is_row else [row]
    return judged


def rankings_of(row: Row | None, beside: Row, depth: int | None) -> tuple[str, int]:
    """A passage's places in rankings as JSON, those of a graded file as it had them where it says
    more, and how many they are."""
    if row is None:
        return "[]", 0
    ordered = ", ".join(sorted(row["places"].split("\2")))  # as text, which begins with the system
    places = f"[{ordered}]".replace("\1", row["in_all"])  # neither character stands in JSON
    methods = row["methods_of_files"] or []
    of_files = [
        ranking
        for ranking in beside.get("rankings", [])
        if ranking["method"] in methods and (depth is None or ranking["rank"] <= depth)
    ]
    if not (methods and beside.get("rankings")):
        return places, row["n"]
    others = [place for place in json.loads(places) if place["method"] not in methods]
    return as_json(others + of_files), len(others + of_files)


def _others(value: Row, known: set[str]) -> Row:
    return {key: item for key, item in value.items() if key not in known and item is not None}


def _is_plain(row: Row, keys: set[str], plain: Row) -> bool:
    return row.keys() <= keys and all(row.get(key, value) == value for key, value in plain.items())
