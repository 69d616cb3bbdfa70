"""The leaderboard picture: scores with intervals, and which systems cannot be told apart."""

from typing import Any

from gradelake.analyses import choosing
from gradelake.analyses.plots.rows import require_room
from gradelake.analyses.stats.boards import read_board
from gradelake.analyses.stats.ranks import RankedSystem, RankUncertainty, rank_uncertainty
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import shown as as_shown
from gradelake.sql.shown.pictures.picture import Picture


def leaderboard_picture(
    lake: Lake, collection: str, label_set: str, measure: str, level: int | None, **settings: Any
) -> tuple[Picture, RankUncertainty]:
    """Each system's score with its interval, the best on top, and a bar beside each group of
    systems that are not shown to differ; `settings` are those of `rank_uncertainty`.

    Raises `BadInput` for what the leaderboard does not have.
    """
    board = read_board(lake, collection, label_set, measure, level)
    found = rank_uncertainty(board, **settings)
    require_room(found.systems, "systems", "`gradelake stats ranks` lists them.")
    names = apart([one.system for one in found.systems])
    rows = [
        {**vars(one), "shown": names[one.system], "ranks": _ranks(one)} for one in found.systems
    ]
    title = [
        f"{shortened(collection)}: {len(names)} systems, {len(board.queries)} queries",
        f"within a bar none differ significantly among all ({found.alpha:g})",
    ]
    if says := board.completeness.says:
        title.append(f"{shortened(label_set)} is {says}")
    by = f"{measure} by {shortened(label_set)}{choosing.at_level(lake, measure, board.level)}"
    slots = {
        "title": title,
        "x": [by, f"{as_shown('percent', found.confidence)} intervals"],
        "name": "shown",
    }
    return Picture("leaderboard", rows, slots), found


def _ranks(one: RankedSystem) -> str | None:
    return None if one.best_rank is None else f"{one.best_rank} to {one.worst_rank}"
