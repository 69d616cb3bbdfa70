"""Parts that several answers have: columns by their usual names, intervals, what a board is."""

from collections.abc import Iterable
from typing import Any

from gradelake.analyses.stats.boards import Board
from gradelake.analyses.stats.resample import Spread
from gradelake.sql.common.counted import counted
from gradelake.sql.shown.answer import Cell, Column
from gradelake.sql.shown.kinds import Interval

LABEL_SET = Column("label_set", "label set", is_key=True)
LEVEL = Column("level", "level", "label", is_key=True)
MEASURE = Column("measure", "measure", is_key=True)
SYSTEM = Column("system", "system", is_key=True)
N_SYSTEMS = Column("n_systems", "systems", "count")
N_QUERIES = Column("n_queries", "queries", "count")
INTERVAL = (
    "The confidence interval of the figure before it, over {}; no_interval: why there is none."
)
OVER_QUERIES = INTERVAL.format("queries")
N_PAIRS = Column("n", "pairs", "count")
P_VALUE = "How often chance alone would give a difference at least as large."
P = Column("p", "p", "p", means=P_VALUE)
GROUPS = "Letters: systems that share one do not differ significantly among all of them."
RANKS = [
    Column("best_rank", kind="rank", is_detail=True, means="The best of its ranks."),
    Column("worst_rank", kind="rank", is_detail=True, means="The worst of its ranks."),
    Column("ranks", means="The ranks that it could have with other queries."),
]
LABELLED_SHARE = Column("labelled_share", kind="share", is_detail=True)
IS_INCOMPLETE = Column("is_incomplete", kind="flag", is_detail=True)


def interval_of(spread: Spread) -> Interval:
    """The interval of a bootstrap, or why it has none."""
    return Interval(spread.low, spread.high, spread.no_interval or "")


def figure(key: str, head: str, kind: str, means: str = "", over: str = "queries") -> list[Column]:
    """A figure, its interval `over` what is resampled beside it, and what CSV and JSON have of its
    bootstrap."""
    interval, error = INTERVAL.format(over), f"The standard error over {over}."
    undefined = "Resamples in which the figure is undefined."
    return [
        Column(key, head, kind, means=means),
        Column(f"{key}_interval", "interval", "interval", kind, is_beside=True, means=interval),
        Column(f"{key}_standard_error", kind=kind, is_detail=True, means=error),
        Column(f"{key}_undefined", kind="count", is_detail=True, means=undefined),
    ]


def spread(key: str, value: float | None, resampled: Spread) -> dict[str, Any]:
    """The values of the columns of `figure`."""
    return {
        key: value,
        f"{key}_interval": interval_of(resampled),
        f"{key}_standard_error": resampled.standard_error,
        f"{key}_undefined": resampled.undefined,
    }


def heading(board: Board) -> str:
    """What a board is: whose it is, of which measure and level."""
    segment = "" if board.segment is None else f", segment {board.segment}"
    counts = "" if board.counting is None else ", by weight and cluster"
    return f"{board.label_set}, {board.measure}, level {board.level}{segment}{counts}"


def named(board: Board) -> Cell:
    """A board's label set, with a mark where it labels too little of what people judged."""
    return Cell(board.label_set, shown=board.label_set + board.completeness.mark)


def sized(board: Board) -> str:
    """How many systems and queries a board has."""
    return f"{counted(len(board.systems), 'systems')} over {counted(len(board.queries), 'queries')}"


def incomplete(boards: Iterable[Board]) -> list[str]:
    """Notes on the label sets that label too little of what people judged to be compared."""
    return [f"{board.label_set} is {says}" for board in boards if (says := board.completeness.says)]


def rounded(value: float | None) -> float | None:
    """A figure with 10 decimals, as the marts have them: sums differ beyond from machine to
    machine."""
    return None if value is None or value != value else round(float(value), 10)
