"""The picture of two systems query by query: where one is better, and by how much."""

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.stats.better import Decided
from gradelake.analyses.stats.boards import UNIT, Board
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import said_p, shown
from gradelake.sql.shown.pictures.picture import Picture, unfit


def topics_picture(lake: Lake, board: Board, decided: Decided) -> Picture:
    """The difference of a board's two systems on each query, the first one's best on top; no rows
    where they are too many, as whoever compares does not wait for a picture that cannot be."""
    in_sql = "The mart `topic_scores` has the scores: ask it with `gradelake sql`."
    if too_many := unfit(len(board.queries), "queries", in_sql):
        return Picture("topics", [], unfit=too_many)
    names = apart(board.queries, 30)
    rows = [
        {
            "query_id": board.queries[i],
            "shown": names[board.queries[i]],
            "difference": float(board.differences[i] / UNIT),
        }
        for i in np.argsort(-board.differences, kind="stable")
    ]
    one, other = apart(board.systems).values()
    title = [
        f"{one} minus {other}",
        f"{shown('change', decided.difference)} on average, {said_p(decided.p)}",
        "better on {wins}, equal on {ties}, worse on {losses} of ".format(**board.outcomes)
        + f"{len(board.queries)} queries",
    ]
    if says := board.completeness.says:
        title.append(f"{shortened(board.label_set)} is {says}")
    at_level = choosing.at_level(lake, board.measure, board.level)
    slots = {
        "title": title,
        "x": f"difference in {board.measure} by {shortened(board.label_set, 30)}{at_level}",
        "name": "shown",
        "reach": max(abs(row["difference"]) for row in rows),
    }
    return Picture("topics", rows, slots)
