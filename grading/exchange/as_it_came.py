"""What a graded file holds of a paragraph: kept whole by an import, given back by an export.

It waits in `raw.brought_along`, a row for each paragraph, in the file's order: `keys` of the
paragraph and of its `data`, its `judgments` by assessor and its `rankings` where they were taken
in, and its entries, each beside the graders that it became. An entry comes out as it went in while
all of a grader's grades of the passage are still those of the file; else what the lake knows is
laid over it.
"""

import json
from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]
# what is written here was read from JSON, or from rows: no value holds itself
as_json = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode

ENTRIES = ("exam_grades", "grades")


def of_paragraph(
    paragraph: Row, graders: list[list[str]], assessor: str | None, systems: bool
) -> Row:
    """What is kept of a paragraph. `graders` are those of each entry in turn; the judgments were
    taken in as `assessor`'s, the rankings as `systems`."""
    data = paragraph.get("paragraph_data")
    judgments = (data or {}).get("judgments") or []
    read = iter(graders)
    kept: Row = {
        "keys": _emptied(paragraph, *ENTRIES, "paragraph_data"),
        "data": data and _emptied(data, "judgments", "rankings"),
        **{key: [[next(read), entry] for entry in paragraph.get(key) or []] for key in ENTRIES},
    }
    if assessor:
        theirs = [one for one in judgments if one.get("assessor") in (None, assessor)]
        kept["judgments"] = {assessor: theirs}
    if systems:
        kept["rankings"] = (data or {}).get("rankings") or []
    return kept


def _emptied(given: Row, *keys: str) -> Row:
    """The object without what stands in these keys, which it still has."""
    return given | {key: [] for key in keys if given.get(key)}


def together(contents: Iterable[Row]) -> Row:
    """What several files or lines have of one paragraph; the first that says a thing counts."""
    merged: Row = {}
    for content in contents:
        for what, found in content.items():
            known = merged.get(what)
            if what == "rankings":
                methods = {ranking["method"] for ranking in known or []}
                merged[what] = (known or []) + [x for x in found if x["method"] not in methods]
            elif isinstance(found, list):
                merged[what] = (known or []) + found
            else:
                merged[what] = (found or {}) | known if known else found
    return merged


def judgments_of(rows: list[Row], kept: Row, are_one_assessors: bool) -> list[Row]:
    """A passage's judgments, an assessor's as the file had them; not where the assessor's row now
    comes from elsewhere, and says otherwise. A file that names nobody needs no name while all of
    the collection are of one assessor."""
    judged: list[Row] = []
    for row in rows:
        assessor = row["assessor"]
        of_file = kept.get("judgments", {}).get(assessor, [])
        is_row = max((one["relevance"] for one in of_file), default=None) == row["relevance"]
        named = {} if are_one_assessors else {"assessor": assessor}
        judged += [one | named for one in of_file] if is_row else [row]
    return judged


def rankings_of(row: Row | None, kept: Row, depth: int | None) -> tuple[str, int]:
    """A passage's places in rankings as JSON, those of a graded file as it had them, and how many
    they are."""
    if row is None:
        return "[]", 0
    ordered = ", ".join(sorted(row["places"].split("\2")))  # as text, which begins with the system
    places = f"[{ordered}]".replace("\1", row["in_all"])  # neither character stands in JSON
    methods = row["methods_of_files"] or []
    of_files = [
        ranking
        for ranking in kept.get("rankings", [])
        if ranking["method"] in methods and (depth is None or ranking["rank"] <= depth)
    ]
    if not (methods and kept.get("rankings")):
        return places, row["n"]
    others = [place for place in json.loads(places) if place["method"] not in methods]
    return as_json(others + of_files), len(others + of_files)
