"""What of the rubric asks for a look: items that mislead, passages that are missed."""

from typing import Any

from gradelake.analyses.report.report_queries import ask, ask_book
from gradelake.sql.lake.opening import Lake

TAU = 4  # a grade of tau or more answers an item (RUBRIC, Farzi and Dietz 2024); or the next lower
SHOWN = 15  # rows of each list


def read_health(
    lake: Lake, collection: str, rubric_version: int | None, assessor: str | None
) -> list[dict[str, Any]]:
    """The health of every grader's items: counts at `tau` and `by_tau`, and how lists begin.

    Without an assessor nothing is known to be relevant: no item is spurious then, no passage
    uncovered.
    """
    asked = {"collection": collection, "rubric_version": rubric_version}
    counts = ask(lake, "rubric_health", assessor=assessor, **asked)
    by_grader: dict[str, list[dict[str, Any]]] = {}
    # an item that no passage answers with a grade is not answered with a higher one: ask once
    unanswered = []
    if counts:
        highest = max(row["tau"] for row in counts)
        unanswered = ask_book(lake, "never_covered_items", tau=highest, **asked)
    for row in counts:
        own = [
            item
            for item in unanswered
            if item["grader"] == row["grader"] and item["best_grade"] < row["tau"]
        ]
        row |= {"n_never_covered": len(own), "never_covered_items": own[:SHOWN]}
        by_grader.setdefault(row["grader"], []).append(row)
    found = [
        next((row for row in reversed(rows) if row["tau"] <= TAU), rows[0]) | {"by_tau": rows}
        for rows in by_grader.values()  # in order of tau
    ]
    for question in ("spurious_items", "uncovered_passages"):
        answers = {
            tau: ask_book(lake, question, tau=tau, **asked) for tau in {one["tau"] for one in found}
        }
        for one in found:
            whose = one["grader"], assessor
            one[question] = [
                row
                for row in answers[one["tau"]]
                if (row["grader"], row.get("assessor", assessor)) == whose
            ][:SHOWN]
    return found
