"""Leaderboards as arrays: each system's value on each query, and official ranks, from the lake."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gradelake.analyses import choosing
from gradelake.analyses.stats.counting import Counting, Units
from gradelake.sql.common.errors import BadInput, NotThere
from gradelake.sql.common.measures import measure_hint
from gradelake.sql.common.project import TO_RANK, did_you_mean
from gradelake.sql.lake.opening import Lake

UNIT = 1e10  # values are stored with 10 decimals: as whole numbers of that unit, sums are exact

WANTED = """
    collection = $collection
    and map($label_sets, $levels)[label_set] = level
    and measure in (select unnest($measures))
"""
SCORES = f"""
    select label_set, measure, list((system, query_id, value))
    from lake.marts.topic_scores
    where {WANTED}
    group by all
"""
BOARDS = f"""
    select
        label_set,
        measure,
        list(system order by system),
        list(score_4dp order by system),
        any_value(n_queries)
    from lake.marts.leaderboard
    where {WANTED}
    group by all
"""
OF_SEGMENT = BOARDS.replace("leaderboard", "leaderboard_by_segment").replace(
    "where", "where segment = $segment and"
)
QUERIES = """
    select label_set, averaged_over, query_id, weight, cluster
    from lake.marts.board_queries
    where collection = $collection and label_set in (select unnest($label_sets))
"""
IN_SEGMENT = """
    and query_id in (
        select query_id from lake.raw.query_weights
        where collection = $collection and list_contains(segments, $segment)
    )
"""


@dataclass(frozen=True)
class Board:
    """One label set's leaderboard of one measure.

    `values`: (queries, systems), in units of 1e-10, 0 where a system left a query unanswered;
    `printed`: (systems,), the leaderboard's scores in units of 0.0001. `counting`: how queries
    count; None where all count alike.
    """

    label_set: str
    level: int
    measure: str
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    values: np.ndarray
    printed: np.ndarray
    completeness: choosing.Completeness = field(default_factory=choosing.Completeness)
    counting: Counting | None = None
    segment: str | None = None

    @cached_property
    def units(self) -> Units:
        """What is resampled: the queries, weighted, or clusters of them."""
        return Units.of(self.values, self.counting)

    def column(self, system: str, where: str = "") -> int:
        """Where its values are. Raises `NotThere`, with `where` first, for one it has not."""
        if system not in self.systems:
            raise NotThere(
                f"{where}the leaderboard of {self.label_set!r} has no system {system!r}",
                did_you_mean(system, self.systems, TO_RANK),
            )
        return self.systems.index(system)

    @property
    def differences(self) -> np.ndarray:
        """The first of two systems less the second, on each query: (queries,)."""
        return self.values[:, 0] - self.values[:, 1]

    @property
    def outcomes(self) -> dict[str, int]:
        """On how many queries the first of two systems is better, worse and equal."""
        signs = {"wins": 1, "losses": -1, "ties": 0}
        return {name: int((np.sign(self.differences) == n).sum()) for name, n in signs.items()}

    def of(self, systems: list[str], where: str = "") -> "Board":
        """The board of some of its systems, in this order. Raises as `column` does."""
        columns = [self.column(system, where) for system in systems]
        return replace(
            self,
            systems=tuple(systems),
            values=self.values[:, columns],
            printed=self.printed[columns],
        )

    def pair(self, first: str, second: str) -> "Board":
        """The board of two of its systems. Raises `BadInput`, `NotThere` for one it has not."""
        if first == second:
            raise BadInput(f"{first!r} is the same system twice", "Name two.")
        return self.of([first, second])

    def on(self, queries: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """(weighted values with a row for each of these queries, the weight of those the board has,
        1 where all count alike, else 0)."""
        own = {query: row for row, query in enumerate(self.queries)}
        weights = self.counting.weights if self.counting else np.ones(len(own))
        values, found = np.zeros((len(queries), len(self.systems))), np.zeros(len(queries))
        for row, query in enumerate(queries):
            if query in own:
                found[row] = weights[own[query]]
                values[row] = np.rint(found[row] * self.values[own[query]])
        return values, found


@dataclass(frozen=True)
class OfficialRanks:
    """An official leaderboard: 1 is the best rank, ties share the average."""

    leaderboard: str
    ranks: dict[str, float]


def read_board(
    lake: Lake,
    collection: str,
    label_set: str,
    measure: str,
    level: int | None = None,
    segment: str | None = None,
) -> Board:
    """The board of a label set by a measure, from the marts, perhaps of a segment's queries.

    `level` is the relevance level (see `default_level`). Raises `BadInput` for a collection, label
    set, measure, level or segment that the leaderboard does not have.
    """
    (board,) = read_boards(lake, collection, [label_set], measure, level, segment)
    return board


def read_boards(
    lake: Lake,
    collection: str,
    label_sets: Sequence[str],
    measure: str,
    level: int | None = None,
    segment: str | None = None,
) -> list[Board]:
    """The boards of several label sets, read at once; raises as `read_board` does."""
    levels = {
        name: default_level(lake, collection, name) if level is None else level
        for name in label_sets
    }
    found = boards_by_measure(lake, collection, levels, [measure], segment)
    for name, at in levels.items():
        if (name, measure) not in found:
            choosing.require_board(lake, collection, name)
            if segment is not None:
                _require_segment(lake, collection, segment, name)
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
    return read_board(lake, collection, label_set, board.measure, level, board.segment)


def measured_label_sets(lake: Lake, collection: str, measure: str) -> list[str]:
    """The label sets whose leaderboards have the measure, by name."""
    return lake.column(
        "select distinct label_set from lake.marts.leaderboard "
        "where collection = ? and measure = ? order by all",
        collection,
        measure,
    )


def boards_by_measure(
    lake: Lake,
    collection: str,
    levels: Mapping[str, int],
    measures: Sequence[str],
    segment: str | None = None,
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
    of_segment = {} if segment is None else {"segment": segment}
    boards = lake.rows(OF_SEGMENT if of_segment else BOARDS, **wanted, **of_segment)
    if not boards:
        return {}
    scores_of = {(name, measure): scores for name, measure, scores in lake.rows(SCORES, **wanted)}
    averaged = _averaged_queries(lake, collection, list(levels), of_segment)
    over, complete = _averaged_over(lake), choosing.completeness(lake, collection)
    found = {}
    for label_set, measure, systems, printed, n_queries in boards:
        scores = scores_of.get((label_set, measure), [])
        of_items = over[measure] != "labels"  # measured where there are rubric items, or answers
        counts = averaged.get((label_set, over[measure]), {})
        answered = {query for _, query, _ in scores} if of_items else set()
        queries = sorted(counts, key=lambda query: (query not in answered, query))
        # a query with rubric items that no system answered counts as well
        queries += [f"(unanswered {n})" for n in range(1, n_queries - len(queries) + 1)]
        row_of, column_of = (
            {one: n for n, one in enumerate(names)} for names in (queries, systems)
        )
        values = np.zeros((len(queries), len(systems)))
        for system, query, value in scores:
            if query in row_of:  # else it weighs nothing, or is of another segment
                values[row_of[query], column_of[system]] = value
        found[label_set, measure] = Board(
            label_set,
            levels[label_set],
            measure,
            tuple(queries),
            tuple(systems),
            np.rint(values * UNIT),
            np.rint(np.array(printed) * 1e4),
            complete[label_set],
            _counting([counts.get(query, (1.0, None)) for query in queries]),
            segment,
        )
    return found


def _averaged_over(lake: Lake) -> dict[str, str]:
    """measure -> whose queries its means are over, as `board_queries` names them."""
    return dict(lake.rows("select measure, averaged_over from lake.marts.measures"))


def _averaged_queries(
    lake: Lake, collection: str, label_sets: list[str], of_segment: dict[str, str]
) -> dict[tuple[str, str], dict[str, tuple[float, str | None]]]:
    """(label set, what is averaged over) -> query -> (weight, cluster)."""
    wanted = {"collection": collection, "label_sets": label_sets, **of_segment}
    rows = lake.rows(QUERIES + (IN_SEGMENT if of_segment else ""), **wanted)
    found: dict[tuple[str, str], dict[str, tuple[float, str | None]]] = {}
    for label_set, over, query, weight, cluster in rows:
        found.setdefault((label_set, over), {})[query] = (weight, cluster)
    return found


def _counting(counts: list[tuple[float, str | None]]) -> Counting | None:
    if not counts or counts[0][1] is None:
        return None
    weights = np.array([weight for weight, _ in counts])
    return Counting(weights / weights.mean(), np.array([cluster for _, cluster in counts]))


def effective_queries(lake: Lake, collection: str) -> dict[tuple[str, str], float]:
    """(label set, measure) -> how many queries of one weight tell as much of a variance
    (`Units.n_effective`), of boards whose queries do not count alike."""
    names = lake.column("select label_set from lake.marts.label_sets")
    averaged_over = _averaged_over(lake)
    queries = _averaged_queries(lake, collection, names, {})
    return {
        (label_set, measure): Units.of(np.zeros((len(counts), 1)), counting).n_effective
        for (label_set, over), counts in queries.items()
        if (counting := _counting(list(counts.values())))
        for measure, averaged in averaged_over.items()
        if over == averaged
    }


def counting_of(lake: Lake, collection: str) -> dict[str, tuple[float, str]]:
    """query -> (weight, cluster), where queries do not all count alike."""
    query = "select query_id, weight, cluster from lake.intermediate.int_query_weights"
    rows = lake.rows(f"{query} where collection = ?", collection)
    return {query_id: (weight, cluster) for query_id, weight, cluster in rows}


def require_even(lake: Lake, collection: str, what: str) -> None:
    """Raise `BadInput` where queries have weights or clusters, which `what` does not heed."""
    if counting_of(lake, collection):
        raise BadInput(
            f"{what} does not heed weights and clusters of queries, and those of "
            f"{collection!r} have some",
            "Ingest them without, as a collection of its own.",
        )


def segments_of(lake: Lake, collection: str) -> list[str]:
    """The kinds of queries that a collection has, by name."""
    query = "select distinct unnest(segments) from lake.raw.query_weights where collection = ?"
    return sorted(lake.column(query, collection))


def _require_segment(lake: Lake, collection: str, segment: str, label_set: str) -> None:
    if segment not in (known := segments_of(lake, collection)):
        hint = did_you_mean(segment, known) if known else "Set query_weights in gradelake.toml."
        raise BadInput(f"{collection!r} has no segment {segment!r}", hint)
    raise BadInput(f"{label_set!r} has no query of segment {segment!r}", "Choose another.")


def default_level(lake: Lake, collection: str, label_set: str) -> int:
    """The level that the mart `usual_levels` has for it; min_relevant where it has no labels."""
    level = usual_level(lake, collection, label_set)
    return choosing.min_relevant(lake, collection) if level is None else level


def usual_level(lake: Lake, collection: str, label_set: str) -> int | None:
    """What the mart `usual_levels` has, which knows no boards whose means were made elsewhere."""
    query = "select max(level) from lake.marts.usual_levels where collection = ? and label_set = ?"
    return lake.value(query, collection, label_set)


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
