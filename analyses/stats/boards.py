"""Leaderboards as arrays: each system's value on each query, and official ranks, from the lake."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradelake.analyses import choosing
from gradelake.sql.common.errors import BadInput, NotThere
from gradelake.sql.common.measures import measure_hint
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.lake.opening import Lake

OF_ITEMS = "rubric", "nuggets", "support"  # kinds of measures
UNIT = 1e10  # values are stored with 10 decimals: as whole numbers of that unit, sums are exact

WANTED = """
    collection = $collection
    and map($label_sets, $levels)[label_set] = level
    and measure in (select unnest($measures))
"""
ROWS = f"""
    select label_set, measure, system, query_id, value
    from lake.marts.topic_scores
    where {WANTED}
"""
SYSTEMS = f"""
    select label_set, measure, system, score_4dp, n_queries
    from lake.marts.leaderboard
    where {WANTED}
    order by label_set, measure, system
"""
LABELLED = """
    select label_set, list(distinct query_id) from lake.marts.relevance_labels
    where collection = ? and label_set in (select unnest(?))
    group by label_set
"""


@dataclass(frozen=True)
class Board:
    """One label set's leaderboard of one measure.

    `values`: (queries, systems), in units of 1e-10, 0 where a system left a query unanswered;
    `printed`: (systems,), the leaderboard's scores in units of 0.0001.
    """

    label_set: str
    level: int
    measure: str
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    values: np.ndarray
    printed: np.ndarray
    completeness: choosing.Completeness = field(default_factory=choosing.Completeness)

    def of(self, systems: list[str]) -> "Board":
        """The board of some of its systems, in this order."""
        columns = [self.systems.index(system) for system in systems]
        return replace(
            self,
            systems=tuple(systems),
            values=self.values[:, columns],
            printed=self.printed[columns],
        )

    def pair(self, one: str, other: str) -> "Board":
        """The board of two of its systems. Raises `BadInput`, `NotThere` for one it has not."""
        if one == other:
            raise BadInput(f"{one!r} is the same system twice", "Name two.")
        for system in (one, other):
            if system not in self.systems:
                raise NotThere(
                    f"the leaderboard of {self.label_set!r} has no system {system!r}",
                    did_you_mean(system, self.systems),
                )
        return self.of([one, other])

    def on(self, queries: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """(values with a row for each of these queries, 1 for those the board has, else 0)."""
        own = {query: row for row, query in enumerate(self.queries)}
        values = np.zeros((len(queries), len(self.systems)))
        for row, query in enumerate(queries):
            if query in own:
                values[row] = self.values[own[query]]
        return values, np.array([float(query in own) for query in queries])


@dataclass(frozen=True)
class OfficialRanks:
    """An official leaderboard: 1 is the best rank, ties share the average."""

    leaderboard: str
    ranks: dict[str, float]


def read_board(
    lake: Lake, collection: str, label_set: str, measure: str, level: int | None = None
) -> Board:
    """The board of a label set by a measure, from the marts.

    `level` is the relevance level (see `default_level`). Raises `BadInput` for a collection, label
    set, measure or level that the leaderboard does not have.
    """
    (board,) = read_boards(lake, collection, [label_set], measure, level)
    return board


def read_boards(
    lake: Lake, collection: str, label_sets: Sequence[str], measure: str, level: int | None = None
) -> list[Board]:
    """The boards of several label sets, read at once; raises as `read_board` does."""
    levels = {
        name: default_level(lake, collection, name) if level is None else level
        for name in label_sets
    }
    found = boards_by_measure(lake, collection, levels, [measure])
    for name, at in levels.items():
        if (name, measure) not in found:
            choosing.require_board(lake, collection, name)
            raise _no_such_board(lake, collection, name, measure, at)
    return [found[name, measure] for name in label_sets]


def read_reference(
    lake: Lake, collection: str, label_set: str, level: int | None, board: Board
) -> Board:
    """The board that another is compared with, by its measure.

    Without a `level`: that of `default_level` for an assessor, else that of the board.
    """
    if level is None and not label_set.startswith("assessor:"):
        level = board.level
    return read_board(lake, collection, label_set, board.measure, level)


def measured_label_sets(lake: Lake, collection: str, measure: str) -> list[str]:
    """The label sets whose leaderboards have the measure, by name."""
    return lake.column(
        "select distinct label_set from lake.marts.leaderboard "
        "where collection = ? and measure = ? order by all",
        collection,
        measure,
    )


def boards_by_measure(
    lake: Lake, collection: str, levels: Mapping[str, int], measures: Sequence[str]
) -> dict[tuple[str, str], Board]:
    """(label set, measure) -> its board, of those that the leaderboard has.

    `levels`: label set -> the level of its boards.
    """
    wanted = {
        "collection": collection,
        "label_sets": list(levels),
        "levels": list(levels.values()),
        "measures": list(measures),
    }
    systems_of: dict[tuple[str, str], list[tuple]] = {}
    for label_set, measure, *row in lake.rows(SYSTEMS, **wanted):
        systems_of.setdefault((label_set, measure), []).append(tuple(row))
    if not systems_of:
        return {}
    scores_of: dict[tuple[str, str], list[tuple]] = {key: [] for key in systems_of}
    for label_set, measure, *row in lake.rows(ROWS, **wanted):
        scores_of[label_set, measure].append(tuple(row))
    labelled = dict(lake.rows(LABELLED, collection, list(levels)))
    kinds, complete = choosing.measures(lake), choosing.completeness(lake, collection)
    found = {}
    for (label_set, measure), board in systems_of.items():
        scores = scores_of[label_set, measure]
        queries = sorted(labelled.get(label_set, []))
        if kinds[measure] in OF_ITEMS:  # measured where there are rubric items, or answers
            queries = sorted({query for _, query, _ in scores})
        # a query with rubric items that no system answered counts as well
        n_queries = board[0][2]
        queries = queries + [f"(unanswered {n})" for n in range(1, n_queries - len(queries) + 1)]
        row_of = {query: row for row, query in enumerate(queries)}
        column_of = {system: column for column, (system, *_) in enumerate(board)}
        values = np.zeros((len(queries), len(board)))
        for system, query, value in scores:
            values[row_of[query], column_of[system]] = value
        found[label_set, measure] = Board(
            label_set,
            levels[label_set],
            measure,
            tuple(queries),
            tuple(column_of),
            np.rint(values * UNIT),
            np.rint(np.array([printed for _, printed, _ in board]) * 1e4),
            complete[label_set],
        )
    return found


def default_level(lake: Lake, collection: str, label_set: str) -> int:
    """The level that the mart `usual_levels` has for it; min_relevant where it has no labels."""
    level = lake.value(
        "select max(level) from lake.marts.usual_levels where collection = ? and label_set = ?",
        collection,
        label_set,
    )
    return choosing.min_relevant(lake, collection) if level is None else level


def require_measures(
    lake: Lake, collection: str, label_set: str, wanted: Sequence[str], level: int | None
) -> int:
    """The level of a board, the default one unless another is asked for. Raises `BadInput` for a
    collection, label set, measure or level that the leaderboard does not have."""
    choosing.require_board(lake, collection, label_set)
    level = default_level(lake, collection, label_set) if level is None else level
    known = {m for m, at in measures_of(lake, collection, label_set) if at == level}
    unknown = [measure for measure in wanted if measure not in known]
    if unknown or not known:
        measure = unknown[0] if known else "nDCG@10"
        raise _no_such_board(lake, collection, label_set, measure, level)
    return level


def measures_of(lake: Lake, collection: str, label_set: str) -> list[tuple[str, int]]:
    """(measure, level) of the boards of a label set, in their order."""
    return lake.rows(
        "select distinct measure, level from lake.marts.leaderboard "
        "where collection = ? and label_set = ? order by all",
        collection,
        label_set,
    )


def _no_such_board(
    lake: Lake, collection: str, label_set: str, measure: str, level: int
) -> BadInput:
    rows = measures_of(lake, collection, label_set)
    where = f"the leaderboard of {label_set!r} on {collection!r}"
    known, levels = {m for m, _ in rows}, sorted({level for _, level in rows})
    if not rows:
        return BadInput(f"{where} has no systems", "Ingest runs or responses, then build.")
    if measure not in known:
        hint = measure_hint(measure, known, lake.rows)
        return BadInput(f"{where} has no measure {measure!r}", hint)
    return BadInput(
        f"{where} has no relevance level {level}", f"Levels: {', '.join(map(str, levels))}."
    )


def read_official_ranks(lake: Lake, collection: str, leaderboard: str | None) -> OfficialRanks:
    """An official leaderboard; None takes the only one there is. Raises `BadInput` otherwise."""
    known = choosing.official_ranks(lake, collection)
    if leaderboard is None:
        if len(known) != 1:
            raise BadInput(
                f"{collection!r} has {len(known) or 'no'} official leaderboards",
                f"Choose one with --leaderboard: {', '.join(known)}."
                if known
                else "Set official_ranks in gradelake.toml, ingest and build; or compare with a "
                "label set instead: --reference assessor:NAME.",
            )
        (leaderboard,) = known
    if leaderboard not in known:
        raise BadInput(
            f"{collection!r} has no official leaderboard {leaderboard!r}",
            did_you_mean(leaderboard, known),
        )
    return OfficialRanks(leaderboard, known[leaderboard])
