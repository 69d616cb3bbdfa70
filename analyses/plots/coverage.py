"""The coverage picture: how much of the rubric each system's first k passages cover."""

from gradelake.analyses import choosing
from gradelake.analyses.answers.leaderboard import read_scores
from gradelake.analyses.plots.rows import require_room
from gradelake.analyses.stats.boards import measures_of
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.pictures.picture import Picture

MOST = 8  # of measures that can be told apart


def coverage_picture(
    lake: Lake, collection: str, label_set: str, level: int | None
) -> tuple[Picture, list[str], tuple[str, ...]]:
    """A dot for each system's Cover@k, the greatest k that can be told apart, sorted by the
    greatest; returns the systems, the one that covers most first, and the measures left out, too.

    Raises `BadInput` for a label set without a rubric, or a level that it does not have.
    """
    covers = lake.column(
        "select measure from lake.intermediate.int_measures where family = 'Cover' order by cutoff"
    )
    known = {measure for measure, _ in measures_of(lake, collection, label_set)}
    shown = tuple(measure for measure in covers if measure in known)
    if known and not shown:
        raise BadInput(
            f"{label_set!r} has no rubric to cover",
            "Choose label sets of graders: GRADER/vN/POLICY.",
        )
    left_out, shown = shown[:-MOST], shown[-MOST:]
    boards = read_scores(lake, collection, (label_set,), shown, () if level is None else (level,))
    last = boards[-1].systems
    systems = sorted(last, key=lambda name: (-last[name][0], name))
    require_room(systems, "systems", "`gradelake sql @leaderboard --measure Cover@20` lists them.")
    names = apart(systems)
    rows = [
        {"system": system, "shown": names[system]}
        | {"measure": board.measure, "cover": board.systems[system][0]}
        for board in boards
        for system in systems
    ]
    complete = choosing.completeness(lake, collection)[label_set].mark
    title = [f"{shortened(collection)}: {len(systems)} systems"]
    if left_out:
        title.append(f"without {', '.join(left_out)}")
    x = [
        f"share of a query's rubric items with a grade \u2265 {boards[0].level}",
        f"by {shortened(label_set)}{complete}",
    ]
    return Picture("coverage", rows, {"title": title, "x": x, "name": "shown"}), systems, left_out
