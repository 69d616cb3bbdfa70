"""How much of the rubric each system's first k passages cover."""

from gradelake.analyses import choosing
from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.answers.scores import read_scores
from gradelake.analyses.stats import options
from gradelake.analyses.stats.boards import measures_of
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.shown.answer import Answer, Column, Table
from gradelake.sql.shown.pictures.picture import Picture, unfit

COVERS = (
    "The share of a query's rubric items that its first k passages cover; the mean over queries."
)
MOST = 8  # of measures that can be told apart


@question("coverage", "Show how much of the rubric each system covers.", draws=True)
@options.named("--label-set", options.LABEL_SET, required=True)
@options.at_level
def coverage(lake, collection, label_set, level):
    """Show each system's Cover@k for the greatest k, the system that covers most first.

    The picture has a dot for each k.

    \b
    Examples:
      gradelake stats coverage dl19 --label-set flan/v0/best \\
          --picture coverage.svg
    """
    covers = lake.column(
        "select measure from lake.marts.measures where family = 'Cover' order by cutoff"
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
    covers = [Column(board.measure, board.measure, "score", means=COVERS) for board in boards]
    table = [[system, *(board.systems[system][0] for board in boards)] for system in systems]
    slots = {"title": title, "x": x, "name": "shown"}
    too_many = unfit(len(systems), "systems", "Leave out --picture to have them listed.")
    without = f" Without {', '.join(left_out)}." if left_out else ""
    return Answer(
        {"collection": collection},
        f"{len(systems)} systems, {' '.join(x)}.{without}",
        tables=[Table("systems", [parts.SYSTEM, *covers], table)],
        picture=Picture("coverage", rows, slots, too_many),
        details={"label_set": label_set, "level": boards[0].level, "left_out": left_out},
    )
