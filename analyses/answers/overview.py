"""Every system on every query: who leads, who could be as good, which queries are hard."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gradelake.analyses.answers import parts
from gradelake.analyses.answers.asking import question
from gradelake.analyses.stats import options
from gradelake.sql.common.counted import counted
from gradelake.sql.common.shortened import apart, shortened
from gradelake.sql.shown.answer import Answer, Column, Table
from gradelake.sql.shown.kinds import Interval, shown
from gradelake.sql.shown.pictures.picture import Picture

if TYPE_CHECKING:
    from gradelake.analyses.stats.boards import Board
    from gradelake.analyses.stats.ranks import RankUncertainty
    from gradelake.sql.lake.opening import Lake

COULD_BE_BEST = "Whether it is the first, or not shown to be worse than the first."
SYSTEMS = [
    Column("rank", kind="rank", is_key=True),
    parts.SYSTEM,
    Column("score", kind="score"),
    Column("interval", kind="interval", is_beside=True, means=parts.OVER_QUERIES),
    Column("could_be_best", "could be the best", "flag", means=COULD_BE_BEST),
]
QUERIES = [
    Column("query_id", "query", is_key=True),
    Column("text", means="The text of the query."),
    Column("mean", kind="score", means="The mean score of all systems on it."),
    Column("best", kind="score", means="The highest score on it."),
    Column("best_system", "best system", means="The system with that score; of several the first."),
]
MOST_SYSTEMS = 40  # that a picture has rows for
MOST_COLUMNS = 150  # of more queries some that are about as hard share one
TEXTS = "select query_id, text from lake.raw.queries where collection = ?"


@question("overview", "Show every system on every query.", draws=True, marts=["topic_scores"])
@options.named(
    "--measure", "A measure of the leaderboard. Default: nDCG@10, or the first there is."
)
@options.named("--label-set", "The label set. Default: the one that a report opens on.")
@options.in_segment
@options.at_level
def overview(lake, collection, measure, label_set, segment, level):
    """Say who leads, who could be as good, and which queries are hard.

    A system could be the best where the randomised Tukey HSD, which looks at all pairs at once,
    does not show it to be worse than the first. In the picture each row is a system and each
    column a query, hardest left; darker is better.

    \b
    Examples:
      gradelake stats overview dl19 --picture overview.png
      gradelake stats overview shop --measure P@10 --segment tail
    """
    from gradelake.analyses.compare.comparison import usual_board
    from gradelake.analyses.stats.ranks import rank_uncertainty

    board = usual_board(lake, collection, (), measure, label_set, level, segment)
    found = rank_uncertainty(board)
    near = {*found.top}
    systems = [
        {"rank": one.rank, "system": one.system, "score": parts.rounded(one.score)}
        | {"interval": Interval(parts.rounded(one.low), parts.rounded(one.high))}
        | {"could_be_best": one.system in near}
        for one in found.systems
    ]
    queries = _queries(board, dict(lake.rows(TEXTS, collection)))
    details = {"label_set": board.label_set, "measure": board.measure, "level": board.level}
    return Answer(
        {"collection": collection, "segment": segment},
        _headline(collection, found),
        tables=[Table.of("systems", SYSTEMS, systems), Table.of("queries", QUERIES, queries)],
        picture=_picture(lake, collection, found, queries),
        notes=[*parts.incomplete([board]), *([found.too_few] if found.too_few else [])],
        details=details | board.completeness.as_object(),
    )


def _headline(collection: str, found: "RankUncertainty") -> str:
    best, n_others = found.systems[0].system, len(found.systems) - 1
    n_near = len(found.top) - 1
    if not n_others:
        return f"{best} is the only system of {collection} with a score"
    if not n_near:
        return f"{best} leads {collection}: every other system is significantly worse"
    return f"{best} leads {collection}, but {counted(n_near, 'others')} could be as good"


def _queries(board: "Board", texts: dict[str, str]) -> list[dict[str, Any]]:
    """What each query's systems come to, the hardest first."""
    from gradelake.analyses.stats.boards import UNIT

    values = board.values / UNIT
    best = values.argmax(axis=1)
    rows = [
        {"query_id": query, "text": texts.get(query), "mean": parts.rounded(values[at].mean())}
        | {"best": parts.rounded(values[at, best[at]]), "best_system": board.systems[best[at]]}
        for at, query in enumerate(board.queries)
    ]
    return sorted(rows, key=lambda row: (row["mean"], row["query_id"]))


def _picture(
    lake: "Lake", collection: str, found: "RankUncertainty", queries: list[dict[str, Any]]
) -> Picture:
    """A row for each of the first systems: its interval, and a cell for each query, or for a few
    that are about as hard."""
    from gradelake.analyses import choosing
    from gradelake.analyses.stats.boards import UNIT

    board, systems = found.board, found.systems[:MOST_SYSTEMS]
    names, near = apart([one.system for one in systems]), {*found.top}
    columns = np.array_split(np.arange(len(queries)), min(len(queries), MOST_COLUMNS))
    row_of = {query: at for at, query in enumerate(board.queries)}
    in_order = [row_of[each["query_id"]] for each in queries]
    rows: list[dict[str, Any]] = []
    for one in systems:
        own = board.values[in_order, board.column(one.system)] / UNIT
        row = {"system": one.system, "shown": f"{one.rank}  {names[one.system]}"}
        figures = {"score": one.score, "low": one.low, "high": one.high, "rank": one.rank}
        said = {"figure": shown("score", one.score), "near": one.system in near}
        rows.append(row | figures | said)
        rows += [
            row
            | {"at": at, "query": named_column(queries, column), "value": float(own[column].mean())}
            for at, column in enumerate(columns)
        ]
    shares = " (of several queries)" * (len(columns) < len(queries))
    by = f"{board.measure}{choosing.at_level(lake, board.measure, board.level)}"
    some = f"{len(systems)} of " * (len(systems) < len(found.systems))
    under = [
        f"{some}{parts.sized(board)}: {by} by {shortened(board.label_set)}, with 95% intervals",
        f"A cell is a query{shares}, the hardest left; darker is better. "
        "Tinted: not shown to be worse than the first.",
    ]
    slots = {"title": _headline(shortened(collection), found), "under": under}
    return Picture("overview", rows, slots)


def named_column(queries: list[dict[str, Any]], column: np.ndarray) -> str:
    """What the queries of a column are called."""
    first = queries[column[0]]
    more = f" and {len(column) - 1} more" if len(column) > 1 else ""
    return f"{first['text'] or first['query_id']}{more}"
