"""The picture of grades: how the passages' grades are distributed for each rubric item."""

from gradelake.analyses.plots.rows import require_room
from gradelake.analyses.report.report_queries import ask_book
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.pictures.picture import Picture

SHADES = 12  # that readers tell apart


def grades_picture(
    lake: Lake, collection: str, grader: str, rubric_version: str, query_id: str | None
) -> tuple[Picture, list[dict[str, str]]]:
    """Each item's share of passages with each grade, the best answered item on top, from the
    question `item_grades` of the query book; returns the items' `query_id` and `item_id`, too.

    Raises `BadInput` for a name that is not in the lake, and for more items than a page has room
    for.
    """
    asked = {"collection": collection, "grader": grader, "rubric_version": rubric_version}
    items = ask_book(lake, "item_grades", query_id=query_id or "any", **asked)
    if not items:
        raise BadInput(
            f"{grader!r} has no grades of that rubric", "`gradelake plan` shows what is missing."
        )
    require_room(items, "items", "Choose a query with --query.")
    counts = [_counts(item["distribution"]) for item in items]
    grades = shades({grade for each in counts for grade in each})
    labels = [item["item"] if query_id else f"{item['query_id']}: {item['item']}" for item in items]
    # an item's text may be there twice: its place tells which is which
    names = apart([f"{n}\u2002{label}" for n, label in enumerate(labels, start=1)], 56)
    ids = [{name: item[name] for name in ("query_id", "item_id")} for item in items]
    rows = [
        {**one, "item": item["item"], "shown": name, "grades": _words(some), "place": place}
        | {"share": sum(each.get(n, 0) for n in some) / sum(each.values())}
        for one, item, each, name in zip(ids, items, counts, names.values(), strict=True)
        for place, some in enumerate(grades)
    ]
    of = shortened(query_id) if query_id else shortened(collection)
    slots = {
        "title": f"{of}: {len(items)} items, rubric {rubric_version}",
        "x": f"passages with each grade by {shortened(grader)}",
    }
    return Picture("grades", rows, slots), ids


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
