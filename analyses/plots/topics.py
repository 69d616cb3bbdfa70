"""The picture of two systems topic by topic: where one is better, and by how much."""

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.plots.rows import require_room
from gradelake.analyses.stats.boards import UNIT, read_board
from gradelake.analyses.stats.significance import compare_pairs
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import said_p, shown
from gradelake.sql.shown.pictures.picture import Picture


def topics_picture(
    lake: Lake,
    collection: str,
    label_set: str,
    measure: str,
    level: int | None,
    systems: tuple[str, str],
    replicates: int,
    seed: int,
) -> tuple[Picture, dict]:
    """The difference of two systems on each query, the first one's best on top.

    Returns wins, ties and losses of the first, the mean difference, and the two-sided p of the
    paired randomisation test, too. Raises `BadInput` for a system that the leaderboard does not
    have.
    """
    board = read_board(lake, collection, label_set, measure, level).pair(*systems)
    require_room(
        board.queries,
        "queries",
        "The mart `topic_scores` has the scores: ask it with `gradelake sql`.",
    )
    pairs = compare_pairs(board, replicates, seed)
    found = {
        "queries": len(board.queries),
        **board.outcomes,
        "difference": float(pairs.difference[0]),
        "p": float(pairs.p[0]),
    }
    names = apart(board.queries, 30)
    rows = [
        {
            "query_id": board.queries[i],
            "shown": names[board.queries[i]],
            "difference": float(board.differences[i] / UNIT),
        }
        for i in np.argsort(-board.differences, kind="stable")
    ]
    one, other = apart(systems).values()
    title = [
        f"{one} minus {other}",
        f"{shown('change', found['difference'])} on average, {said_p(found['p'])}",
        f"better on {found['wins']}, equal on {found['ties']}, worse on {found['losses']} of "
        f"{found['queries']} queries",
    ]
    if says := board.completeness.says:
        title.append(f"{shortened(label_set)} is {says}")
    at_level = choosing.at_level(lake, measure, board.level)
    slots = {
        "title": title,
        "x": f"difference in {measure} by {shortened(label_set, 30)}{at_level}",
        "name": "shown",
        "reach": max(abs(row["difference"]) for row in rows),
    }
    return Picture("topics", rows, slots), found
