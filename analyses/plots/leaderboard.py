"""The leaderboard picture: scores with intervals, and which systems cannot be told apart."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gradelake.analyses import choosing
from gradelake.analyses.plots.style import BLUE, GREY, apart, rows_figure, shortened, title
from gradelake.analyses.stats.boards import read_board
from gradelake.analyses.stats.ranks import RankUncertainty, rank_uncertainty
from gradelake.sql.lake.opening import Lake

INSTEAD = "`gradelake stats ranks` lists them."
ACROSS = 0.025  # between two bars of groups, of the width of the axes, where there is room
ALL_ACROSS = 0.4  # what they may take together


def draw_leaderboard(
    lake: Lake,
    collection: str,
    label_set: str,
    measure: str,
    level: int | None,
    output: Path,
    **settings: Any,
) -> RankUncertainty:
    """Draw each system's score with its interval, the best on top, and a bar beside each group of
    systems that are not shown to differ; `settings` are those of `rank_uncertainty`.

    Raises `BadInput` for what the leaderboard does not have.
    """
    board = read_board(lake, collection, label_set, measure, level)
    found = rank_uncertainty(board, **settings)
    names = apart([one.system for one in found.systems])
    with rows_figure(output, list(names.values()), "systems", INSTEAD) as (drawn, axes):
        for place, one in enumerate(found.systems):
            if one.low is not None and one.high is not None:
                axes.plot([one.low, one.high], [place, place], color=BLUE, linewidth=1.2)
            axes.plot(one.score, place, "o", color=BLUE, markersize=4.5)
        across = min(ACROSS, ALL_ACROSS / len(found.groups))
        for column, first, last in _bars(found.groups):  # two in one column read as one group
            axes.plot(
                [1.02 + across * column] * 2,
                [first - 0.3, last + 0.3],
                transform=axes.get_yaxis_transform(),
                color=GREY,
                linewidth=2.5,
                clip_on=False,
                solid_capstyle="butt",
            )
        at_level = choosing.at_level(lake, measure, board.level)
        axes.set_xlabel(
            f"{measure} by {shortened(label_set)}{at_level}\n{found.confidence:.0%} intervals"
        )
        lines = [
            f"{shortened(collection)}: {len(names)} systems, {len(board.queries)} queries",
            f"within a bar none differ significantly among all ({found.alpha:g})",
        ]
        if says := board.completeness.says:
            lines.append(f"{shortened(label_set)} is {says}")
        title(drawn, *lines)
    return found


def _bars(groups: Sequence[Sequence[int]]) -> Iterator[tuple[int, int, int]]:
    """(column, first, last) of each unbroken run of places in a group, a column a group."""
    for column, places in enumerate(groups):
        starts = [at for at in places if at - 1 not in places]
        ends = [at for at in places if at + 1 not in places]
        for first, last in zip(starts, ends, strict=True):
            yield column, first, last
