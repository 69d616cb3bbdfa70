"""What of the rubric asks for a look: items that mislead, passages that are missed."""

from typing import Any

from gradelake.analyses.report.report_queries import ask, ask_book
from gradelake.sql.lake.opening import Lake

TAU = 4  # a grade of tau or more answers an item (RUBRIC, Farzi and Dietz 2024); or the next lower
SHOWN = 15  # rows of each list


def read_health(
    lake: Lake, collection: str, rubric_version: int | None, assessor: str | None
) -> list[dict[str, Any]]:
    """Of every grader that has graded items: counts at `tau` and `by_tau`, and how lists begin.

    Without an assessor nothing is known to be relevant: no item is spurious then, no passage
    uncovered.
    """
    by_grader: dict[str, list[dict[str, Any]]] = {}
    of = {"collection": collection, "rubric_version": rubric_version}
    for row in ask(lake, "rubric_health", assessor=assessor, **of):
        by_grader.setdefault(row["grader"], []).append(row)
    found = []
    for grader, rows in by_grader.items():  # in order of tau
        at_tau = next((row for row in reversed(rows) if row["tau"] <= TAU), rows[0])
        lists = {}
        for question in ("spurious_items", "uncovered_passages", "never_covered_items"):
            every = ask_book(lake, question, grader=grader, tau=at_tau["tau"], **of)
            whose = [row for row in every if row.get("assessor", assessor) == assessor]
            lists[question] = whose[:SHOWN]
        found.append(at_tau | lists | {"by_tau": rows})
    return found
