"""The picture of grades: how the passages' grades are distributed for each rubric item."""

from pathlib import Path

import numpy as np
from matplotlib import colormaps

from gradelake.analyses.plots.style import apart, legend, rows_figure, shortened, title
from gradelake.analyses.report.report_queries import ask_book
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake

SHADES = 12  # that readers tell apart


def draw_grades(
    lake: Lake,
    collection: str,
    grader: str,
    rubric_version: str,
    query_id: str | None,
    output: Path,
) -> list[tuple[str, str]]:
    """Draw each item's share of passages with each grade, the best answered item on top, from the
    question `item_grades` of the query book; returns the items' (query_id, item_id).

    Raises `BadInput` for a name that is not in the lake, and for more items than a page has room
    for.
    """
    asked = {"collection": collection, "grader": grader, "rubric_version": rubric_version}
    rows = ask_book(lake, "item_grades", query_id=query_id or "any", **asked)
    if not rows:
        raise BadInput(
            f"{grader!r} has no grades of that rubric", "`gradelake plan` shows what is missing."
        )
    counts = [_counts(row["distribution"]) for row in rows]
    grades = shades({grade for each in counts for grade in each})
    labels = [row["item"] if query_id else f"{row['query_id']}: {row['item']}" for row in rows]
    # an item's text may be there twice: its place tells which is which
    names = apart([f"{n}  {label}" for n, label in enumerate(labels, start=1)], 56)
    colours = colormaps["Blues"](np.linspace(0.08, 1, len(grades)))
    instead = "Choose a query with --query."
    with rows_figure(output, list(names.values()), "items", instead) as (drawn, axes):
        left = np.zeros(len(rows))
        bars = []
        for grade, colour in zip(grades, colours, strict=True):
            shares = np.array(
                [sum(each.get(n, 0) for n in grade) / sum(each.values()) for each in counts]
            )
            bar = axes.barh(
                range(len(rows)), shares, 0.72, left, color=colour, edgecolor="white", linewidth=0.4
            )
            bars.append(bar)
            left += shares
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        axes.set_xlabel(f"passages with each grade by {shortened(grader)}")
        of = shortened(query_id) if query_id else shortened(collection)
        title(drawn, f"{of}: {len(rows)} items, rubric {rubric_version}")
        legend(drawn, bars, [_words(grade) for grade in grades], columns=6)
    return [(row["query_id"], row["item_id"]) for row in rows]


def shades(occurring: set[int]) -> list[range]:
    """What has a shade each: the grades that occur, or equally wide ranges where those are many."""
    low, high = min(occurring), max(occurring)
    width = 1 if len(occurring) <= SHADES else -(-(high - low + 1) // SHADES)
    starts = sorted({grade - (grade - low) % width for grade in occurring})
    return [range(start, min(start + width, high + 1)) for start in starts]


def _words(grades: range) -> str:
    return f"grade {grades[0]}" if len(grades) == 1 else f"grades {grades[0]} to {grades[-1]}"


def _counts(distribution: str) -> dict[int, int]:
    """`5:2 0:7` as grade -> passages."""
    return {int(grade): int(n) for grade, n in (each.split(":") for each in distribution.split())}
