"""How the passages' grades are distributed for each rubric item."""

from gradelake.analyses.answers.asking import question
from gradelake.analyses.report.report_queries import ask_book
from gradelake.analyses.stats import options
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.shown.answer import Answer, Column, Table
from gradelake.sql.shown.pictures.picture import Picture, unfit

SHADES = 12  # that readers tell apart


COLUMNS = [
    Column("query_id", kind="id", is_title=True),
    Column("item_id", kind="id", is_detail=True),
    Column("item", is_title=True, means="The text of the item."),
    Column("grades", is_key=True, means="A grade, or a range of them."),
    Column("share", kind="percent", means="The share of the item's passages that have it."),
]


@question(
    "grades",
    "Show the distribution of grades of each rubric item.",
    draws=True,
    marts=["grade_grid"],
)
@options.named("--grader", "The grader whose grades to look at.", required=True)
@options.named("--rubric-version", "A version of the rubric.", default="newest")
@options.named("--query", "Only the items of the query with this id.")
def grades(lake, collection, grader, rubric_version, query):
    """Show what share of passages each rubric item gave each grade, the best answered first, as
    `@item_grades` of the query book has it.

    \b
    Examples:
      gradelake stats grades dl19 --grader flan --query 1037798 \\
          --picture grades.svg
    """
    query_id = query
    asked = {"collection": collection, "grader": grader, "rubric_version": rubric_version}
    items = ask_book(lake, "item_grades", query_id=query_id or "any", **asked)
    if not items:
        raise BadInput(
            f"{grader!r} has no grades of that rubric", "`gradelake plan` shows what is missing."
        )
    counts = [_counts(item["distribution"]) for item in items]
    scale = shades({grade for each in counts for grade in each})
    labels = [item["item"] if query_id else f"{item['query_id']}: {item['item']}" for item in items]
    # an item's text may be there twice: its place tells which is which
    names = apart([f"{n}\u2002{label}" for n, label in enumerate(labels, start=1)], 56)
    ids = [{name: item[name] for name in ("query_id", "item_id")} for item in items]
    rows = [
        {**one, "item": item["item"], "shown": name, "grades": _words(some), "place": place}
        | {"share": sum(each.get(n, 0) for n in some) / sum(each.values())}
        for one, item, each, name in zip(ids, items, counts, names.values(), strict=True)
        for place, some in enumerate(scale)
    ]
    whose = shortened(query_id) if query_id else shortened(collection)
    slots = {
        "title": f"{whose}: {len(items)} items, rubric {rubric_version}",
        "x": f"passages with each grade by {shortened(grader)}",
    }
    too_many = unfit(len(items), "items", "Choose a query with --query.")
    return Answer(
        {"collection": collection, "grader": grader, "rubric_version": rubric_version},
        f"{slots['title']}; {slots['x']}.",
        tables=[Table.of("grades", COLUMNS, rows)],
        picture=Picture("grades", rows, slots, too_many),
        details={"items": ids},
    )


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
