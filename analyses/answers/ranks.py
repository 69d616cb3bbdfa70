"""How surely each system has its rank."""

from typing import TYPE_CHECKING

from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.shown.answer import Answer, Column, Table
from gradelake.sql.shown.kinds import Interval, shown
from gradelake.sql.shown.pictures.picture import Picture, unfit

if TYPE_CHECKING:
    from gradelake.analyses.stats.boards import Board
    from gradelake.analyses.stats.ranks import RankUncertainty
    from gradelake.sql.lake.opening import Lake

COLUMNS = [
    Column("rank", kind="rank", is_key=True),
    parts.SYSTEM,
    Column("score", kind="score"),
    Column("interval", kind="interval", is_beside=True, means=parts.OVER_QUERIES),
    *parts.RANKS,
    Column("groups", means=parts.GROUPS),
    Column("stderr", kind="score", is_detail=True),
]


@question("ranks", "Compute how surely each system has its rank.", draws=True)
@options.measured
@options.named("--label-set", "The label set whose leaderboard to look at.", required=True)
@options.in_segment
@options.at_level
@options.at_alpha("Significance level of the groups.")
@options.replicated("Bootstrap samples, and random permutations of the test.")
@options.with_confidence
def ranks(lake, collection, measure, label_set, segment, level, replicates, **settings):
    """Say how surely systems have their scores and ranks, and which cannot be told apart.

    Student's t interval of each mean over queries; the ranks that a system has when queries are
    resampled; and groups: systems that share a letter do not differ significantly by the
    randomised Tukey HSD, which looks at all pairs at once. Queries count by their weights, and
    clusters of queries are resampled as a whole. The picture has a grey bar beside each group.

    \b
    Examples:
      gradelake stats ranks dl19 --measure nDCG@10 --label-set judge:Sun
      gradelake stats ranks shop --measure AP --label-set judge:Sun \\
          --segment tail
      gradelake stats ranks dl19 --measure AP --label-set judge:Sun \\
          --picture ranks.svg
    """
    from gradelake.analyses.stats.boards import read_board
    from gradelake.analyses.stats.ranks import rank_uncertainty

    board = read_board(lake, collection, label_set, measure, level, segment)
    found = rank_uncertainty(board, n_replicates=replicates, **settings)
    rows = [
        vars(one)
        | {"score": parts.rounded(one.score), "stderr": parts.rounded(one.stderr)}
        | {"interval": Interval(parts.rounded(one.low), parts.rounded(one.high))}
        | {"ranks": "undefined" if one.low is None else f"{one.best_rank} to {one.worst_rank}"}
        for one in found.systems
    ]
    asked = {"collection": collection, "measure": measure, "replicates": replicates} | settings
    details = {"label_set": label_set, "level": board.level, "n_queries": len(board.queries)}
    return Answer(
        asked,
        f"{parts.heading(board)}: {parts.sized(board)}; {shown('percent', found.confidence)} "
        "intervals. Systems that share a letter do not differ significantly among all of them "
        f"({found.correction}, alpha {found.alpha:g}).",
        tables=[Table.of("systems", COLUMNS, rows)],
        picture=_picture(lake, collection, board, found),
        notes=[*parts.incomplete([board]), *([found.too_few] if found.too_few else [])],
        details=details | board.completeness.as_object() | {"top": found.top},
    )


def _picture(lake: "Lake", collection: str, board: "Board", found: "RankUncertainty") -> Picture:
    """Each system's score with its interval, the best on top, and a bar beside each group of
    systems that are not shown to differ."""
    from gradelake.analyses import choosing

    names = apart([one.system for one in found.systems])
    rows = [
        {**vars(one), "shown": names[one.system]}
        | {"ranks": None if one.best_rank is None else f"{one.best_rank} to {one.worst_rank}"}
        for one in found.systems
    ]
    title = [
        f"{shortened(collection)}: {len(names)} systems, {len(board.queries)} queries",
        f"within a bar none differ significantly among all ({found.alpha:g})",
    ]
    if says := board.completeness.says:
        title.append(f"{shortened(board.label_set)} is {says}")
    at_level = choosing.at_level(lake, board.measure, board.level)
    slots = {
        "title": title,
        "x": [
            f"{board.measure} by {shortened(board.label_set)}{at_level}",
            f"{shown('percent', found.confidence)} intervals",
        ],
        "name": "shown",
    }
    too_many = unfit(len(rows), "systems", "Leave out --picture to have them listed.")
    return Picture("leaderboard", rows, slots, too_many)
