"""The scatter picture: each system's score by labels and by the reference's."""

from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from scipy.stats import rankdata

from gradelake.analyses import choosing
from gradelake.analyses.plots import style
from gradelake.analyses.qrels_export import require_label_set
from gradelake.analyses.stats.boards import default_level, read_board
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake

MARKERS = "^vsDP<>X"  # of the named systems, the farthest first
FAR = 0.1  # of all systems: a system that moves by more ranks is named
WIDTH = 4.6  # inches; fits a column of text

AGREEMENT = """
    select reference_level, kendall, undefined_reason, n_systems
    from lake.marts.leaderboard_agreement
    where collection = ? and label_set = ? and reference = ? and measure = ? and level = ?
"""


def draw_scatter(
    lake: Lake,
    collection: str,
    label_set: str,
    reference: str | None,
    measure: str,
    level: int | None,
    output: Path,
) -> tuple[list[str], list[str]]:
    """Draw the systems that both leaderboards have; returns the outliers that are named, the
    farthest eight, and the others.

    Outliers stand far from their place by the reference: more than a tenth of the systems in rank,
    the farthest first. Kendall's tau-b is that of the mart
    `leaderboard_agreement`. Raises `BadInput` for what the leaderboards do not have.
    """
    reference = choosing.reference_of(lake, collection, reference)
    require_label_set(lake, collection, label_set)
    level = default_level(lake, collection, label_set) if level is None else level
    ours = read_board(lake, collection, label_set, measure, level)
    rows = lake.rows(AGREEMENT, collection, label_set, reference, measure, level)
    if not rows:
        raise BadInput(
            f"the leaderboard of {label_set!r} is not compared with that of {reference!r} by "
            f"{measure} at level {level}",
            "Choose another --reference; `gradelake build` compares with every assessor, and the "
            "newest rubric's label sets with each other.",
        )
    ((reference_level, tau, reason, _),) = rows
    theirs = read_board(lake, collection, reference, measure, reference_level)
    systems = sorted(set(ours.systems) & set(theirs.systems))
    x, y = (board.of(systems).printed / 10_000 for board in (theirs, ours))
    far = find_outliers(x, y)
    outliers, more = far[: len(MARKERS)], far[len(MARKERS) :]
    with style.figure(output, WIDTH, WIDTH + 0.3 + 0.1 * len(outliers)) as drawn:
        axes = drawn.subplots()
        low, high = min(x.min(), y.min()), max(x.max(), y.max())
        pad = 0.06 * (high - low or 1)
        limits = low - pad, high + pad
        axes.plot(limits, limits, color=style.GREY, linewidth=0.8, linestyle="--", zorder=1)
        others = np.setdiff1d(np.arange(len(systems)), outliers)
        rest = x[others], y[others]
        axes.scatter(*rest, s=22, color=style.BLUE, alpha=0.75, linewidths=0, zorder=2)
        # systems with the same scores share a marker, or one would hide the other
        drawn_at: dict[tuple[float, float], Artist] = {}
        for i in outliers:
            if (x[i], y[i]) not in drawn_at:
                marker = MARKERS[len(drawn_at)]
                drawn_at[x[i], y[i]] = axes.scatter(
                    x[i], y[i], s=34, color=style.VERMILION, marker=marker, linewidths=0
                )
        axes.set(xlim=limits, ylim=limits, aspect="equal")
        for board, set_label in ((theirs, axes.set_xlabel), (ours, axes.set_ylabel)):
            at_level = choosing.at_level(lake, measure, board.level)
            set_label(f"{measure} by {style.shortened(board.label_set, 30)}{at_level}")
        axes.grid(color="#e5e5e5", linewidth=0.6)
        axes.set_axisbelow(True)
        known = f"\u03c4-b = {tau:.3f}" if tau is not None else f"\u03c4-b undefined: {reason}"
        title = [f"{style.shortened(collection)}: {len(systems)} systems, {known}"]
        for board in (ours, theirs):
            if says := board.completeness.says:
                title.append(f"{style.shortened(board.label_set, 30)} is {says}")
        axes.set_title("\n".join(title))
        names = list(style.apart([systems[i] for i in outliers]).values())
        marks = [drawn_at[x[i], y[i]] for i in outliers]
        if len(more):
            names.append(f"and {len(more)} more")
            marks.append(Line2D([], [], linestyle="none"))
        style.legend(drawn, marks, names, columns=2)
    return [systems[i] for i in outliers], [systems[i] for i in more]


def find_outliers(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Indices of the systems whose rank by `y` is far from that by `x`, farthest first.

    Ties share the average rank; scores have 4 decimals, as trec_eval prints them.
    """
    moved = np.abs(rankdata(x) - rankdata(y))
    farthest = np.argsort(-moved, kind="stable")
    return farthest[moved[farthest] > max(1.0, FAR * len(x))]
