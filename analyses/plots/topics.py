"""The picture of two systems topic by topic: where one is better, and by how much."""

from pathlib import Path

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.plots import style
from gradelake.analyses.stats.boards import UNIT, read_board
from gradelake.analyses.stats.significance import compare_pairs
from gradelake.sql.lake.opening import Lake

INSTEAD = "The mart `topic_scores` has the scores: ask it with `gradelake sql`."


def draw_topics(
    lake: Lake,
    collection: str,
    label_set: str,
    measure: str,
    level: int | None,
    systems: tuple[str, str],
    output: Path,
    replicates: int,
    seed: int,
) -> dict:
    """Draw the difference of two systems on each query, the first one's best on top.

    Returns wins, ties and losses of the first, the mean difference, and the two-sided p of the
    paired randomisation test. Raises `BadInput` for a system that the leaderboard does not have.
    """
    board = read_board(lake, collection, label_set, measure, level).pair(*systems)
    differences = board.differences
    order = np.argsort(-differences, kind="stable")
    pairs = compare_pairs(board, replicates, seed)
    found = {
        "queries": len(board.queries),
        **board.outcomes,
        "difference": float(pairs.difference[0]),
        "p": float(pairs.p[0]),
    }
    names = style.apart(board.queries, 30)
    one, other = style.apart(systems).values()
    rows = [names[board.queries[i]] for i in order]
    with style.rows_figure(output, rows, "queries", INSTEAD, 0.17) as (drawn, axes):
        drawn_of = differences[order] / UNIT
        colours = [style.BLUE if value > 0 else style.VERMILION for value in drawn_of]
        axes.barh(range(len(order)), drawn_of, height=0.62, color=colours)
        axes.axvline(0, color="black", linewidth=0.8)
        reach = 1.08 * max(np.abs(drawn_of).max(), 0.01)
        axes.set_xlim(-reach, reach)
        at_level = choosing.at_level(lake, measure, board.level)
        axes.set_xlabel(f"difference in {measure} by {style.shortened(label_set, 30)}{at_level}")
        says = board.completeness.says
        style.title(
            drawn,
            f"{one} minus {other}",
            f"{found['difference']:+.4f} on average, p = {found['p']:.3f}",
            f"better on {found['wins']}, equal on {found['ties']}, worse on {found['losses']} of "
            f"{found['queries']} queries",
            *([f"{style.shortened(label_set)} is {says}"] if says else []),
        )
    return found
