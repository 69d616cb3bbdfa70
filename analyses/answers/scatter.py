"""Each system's score by labels and by the reference's."""

from typing import Any

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.qrels_export import require_label_set
from gradelake.analyses.stats import options
from gradelake.analyses.stats.boards import Board, default_level, read_board
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.rank_correlation import signs
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.answer import Answer, Column, Table
from gradelake.sql.shown.kinds import shown
from gradelake.sql.shown.pictures.picture import Picture

# of the named systems, the farthest first; the last is a cross that lies
SHAPES = (
    "triangle-up",
    "triangle-down",
    "square",
    "diamond",
    "cross",
    "triangle-left",
    "triangle-right",
    "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0Z",
)
FAR = 0.1  # of all systems: a system that moves by more ranks is named

AGREEMENT = """
    select reference_level, kendall, undefined_reason, n_systems
    from lake.marts.leaderboard_agreement
    where collection = ? and label_set = ? and reference = ? and measure = ? and level = ?
"""


COLUMNS = [
    parts.SYSTEM,
    Column("reference", "by the reference", "score", means="Its score by the reference."),
    Column("labels", "by the labels", "score", means="Its score by the labels."),
    Column(
        "is_far",
        "far from its place",
        "flag",
        means="Whether its two ranks differ by more than a tenth of the systems.",
    ),
]


@question("scatter", "Show systems' scores by labels and by a reference.", draws=True)
@options.named("--label-set", options.LABEL_SET, required=True)
@options.with_reference
@options.measured
@options.at_level
def scatter(lake, collection, label_set, reference, measure, level):
    """Show each system's score by the labels and by the reference, with Kendall's tau-b.

    Systems whose two ranks differ by more than a tenth of all systems are named, the farthest
    first.

    \b
    Examples:
      gradelake stats scatter dl19 --label-set flan/v0/best \\
          --measure nDCG@10 --picture scatter.svg
    """
    reference = choosing.reference_of(lake, collection, reference)
    require_label_set(lake, collection, label_set)
    level = default_level(lake, collection, label_set) if level is None else level
    ours = read_board(lake, collection, label_set, measure, level)
    found = lake.rows(AGREEMENT, collection, label_set, reference, measure, level)
    if not found:
        raise BadInput(
            f"the leaderboard of {label_set!r} is not compared with that of {reference!r} by "
            f"{measure} at level {level}",
            "Choose another --reference; `gradelake build` compares with every assessor, and the "
            "newest rubric's label sets with each other.",
        )
    ((reference_level, tau, reason, _),) = found
    theirs = read_board(lake, collection, reference, measure, reference_level)
    systems = sorted(set(ours.systems) & set(theirs.systems))
    x, y = (board.of(systems).printed / 10_000 for board in (theirs, ours))
    far = find_outliers(x, y)
    outliers, more = ([systems[i] for i in some] for some in np.split(far, [len(SHAPES)]))
    names = apart(outliers)
    from scipy.stats import rankdata

    ranks = (rankdata(-x).tolist(), rankdata(-y).tolist())
    rows: list[dict[str, Any]] = [
        {"system": system, "named": names.get(system, ""), "far": system in names}
        | {"reference": float(at[0]), "labels": float(at[1]), "rank_x": at[2], "rank_y": at[3]}
        for system, *at in zip(systems, x, y, *ranks, strict=True)
    ]
    moved = {systems[i] for i in far}
    table = [row | {"is_far": row["system"] in moved} for row in rows]
    known = (
        f"\u03c4-b = {shown('tau', tau)}" if tau is not None else f"\u03c4-b undefined: {reason}"
    )
    far_away = f" Far from their place: {', '.join(outliers)}" if outliers else ""
    and_more = f", and {len(more)} more" if more else ""
    slots = _slots(lake, ours, theirs) | _legend(rows, outliers, len(more))
    slots["title"] = [f"{shortened(collection)}: {len(systems)} systems, {known}", *slots["title"]]
    slots |= {"low": float(min(x.min(), y.min())), "high": float(max(x.max(), y.max()))}
    rows.sort(key=lambda row: bool(row["far"]))  # drawn over the others
    return Answer(
        {"collection": collection, "measure": measure},
        f"{len(systems)} systems, {known}.{far_away}{and_more}",
        tables=[Table.of("systems", COLUMNS, table)],
        picture=Picture("scatter", rows, slots),
        notes=parts.incomplete([ours, theirs]),
        details={"label_set": label_set, "reference": reference, "level": level}
        | {"outliers": outliers, "more_outliers": more},
    )


def _slots(lake: Lake, ours: Board, theirs: Board) -> dict[str, Any]:
    """What the picture says of both boards: beside its axes, and of those that are incomplete."""
    title = [
        f"{shortened(board.label_set, 30)} is {says}"
        for board in (ours, theirs)
        if (says := board.completeness.says)
    ]
    x, y = (
        f"{board.measure} by {shortened(board.label_set, 30)}"
        f"{choosing.at_level(lake, board.measure, board.level)}"
        for board in (theirs, ours)
    )
    return {"title": title, "x": x, "y": y}


def _legend(rows: list[dict], outliers: list[str], n_more: int) -> dict:
    """A shape for each outlier; those with the same scores share one, or one would hide the
    other."""
    at = {row["system"]: (row["reference"], row["labels"]) for row in rows}
    places = list(dict.fromkeys(at[system] for system in outliers))
    shapes = {row["named"]: SHAPES[places.index(at[row["system"]])] for row in rows if row["far"]}
    named = apart(outliers).values()
    more = [f"and {n_more} more"] if n_more else []
    return {
        "named": ["", *named, *more],
        "shapes": ["circle", *map(shapes.get, named), *["M0,0"] * len(more)],
        "legend": {"columns": 2, "values": [*named, *more]} if outliers else None,
    }


def find_outliers(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Indices of the systems whose rank by `y` is far from that by `x`, farthest first.

    Ties share the average rank; scores have 4 decimals, as trec_eval prints them.
    """
    moved = np.abs((signs(x) - signs(y)).sum(axis=1)) / 2
    farthest = np.argsort(-moved, kind="stable")
    return farthest[moved[farthest] > max(1.0, FAR * len(x))]
