"""Scores of boards, measure by measure, as they are shown and drawn beside each other."""

from itertools import product
from typing import NamedTuple

from gradelake.analyses import choosing
from gradelake.analyses.stats.boards import default_level, effective_queries, usual_level
from gradelake.analyses.stats.resample import student_reach
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.measures import measure_hint
from gradelake.sql.lake.opening import Lake

SCORES = """
    select measure, n_queries, system, score, stderr, rank from lake.marts.leaderboard
    where collection = $1 and label_set = $2 and level = $3
    union all
    select measure, null, system, score, stderr, rank from lake.marts.imported_scores
    where collection = $1 and label_set = $2
"""
IMPORTED = "imported"  # the kind of a measure that the lake does not know


class Scores(NamedTuple):
    """One measure of one board; `systems`: system -> (score, standard error, rank). `n_queries`:
    as many of one weight tell as much (`Units.n_effective`); None of a board made elsewhere."""

    label_set: str
    level: int
    measure: str
    kind: str
    n_queries: float | None
    systems: dict[str, tuple]

    @property
    def has_level(self) -> bool:
        return self.kind in choosing.LEVELLED and not choosing.is_imported(self.label_set)

    def half_interval(self, error: float | None) -> float | None:
        """What Student's 95% interval reaches from the score to each side."""
        if error is None or self.n_queries is None:
            return None
        return error * float(student_reach(self.n_queries))


def read_scores(
    lake: Lake,
    collection: str,
    label_sets: tuple[str, ...],
    measures: tuple[str, ...],
    levels: tuple[int, ...],
) -> list[Scores]:
    """Each board by each measure that it has; one that knows no level once per label set.

    Defaults are those of `stats leaderboard`. Raises `BadInput` for what no board has.
    """
    names = list(dict.fromkeys(label_sets)) or [choosing.only_label_set(lake, collection)]
    for name in names:
        choosing.require_board(lake, collection, name)
    boards = [(name, level) for name in names for level in _levels(lake, collection, name, levels)]
    kinds, effective = choosing.measures(lake), effective_queries(lake, collection)
    found: dict[tuple[str, int], dict[str, dict[str, tuple]]] = {}
    sizes: dict[tuple[str, str], float | None] = {}
    for name, level in boards:
        by_measure = found[name, level] = {}
        for measure, n, system, *cells in lake.rows(SCORES, collection, name, level):
            by_measure.setdefault(measure, {})[system] = tuple(cells)
            sizes[name, measure] = effective.get((name, measure), n)
        if not by_measure:
            raise BadInput(
                f"the leaderboard of {name!r} on {collection!r} has no level {level}",
                "Are there systems? Levels are those of seeds/evaluation_levels.csv.",
            )
    known = {measure for by_measure in found.values() for measure in by_measure}
    for measure in measures:
        if measure not in known:
            raise BadInput(
                f"the leaderboard of {' or '.join(map(repr, names))} has no measure {measure!r}",
                measure_hint(measure, known, lake.rows),
            )
    wanted = list(dict.fromkeys(measures)) or [
        measure
        for measure in (*kinds, *sorted(known - kinds.keys()))
        if kinds.get(measure) != "labelled"
        and all(measure in systems for systems in found.values())
    ]
    first = dict(reversed(boards))
    every = [
        Scores(name, level, m, kinds.get(m, IMPORTED), sizes[name, m], found[name, level][m])
        for (name, level), m in product(boards, wanted)
        if m in found[name, level]
    ]
    return [each for each in every if each.has_level or first[each.label_set] == each.level]


def _levels(lake: Lake, collection: str, name: str, asked: tuple[int, ...]) -> list[int]:
    """At which levels a board is shown: one that was made elsewhere knows none."""
    usual = usual_level(lake, collection, name)
    if choosing.is_imported(name):
        return [usual or 0]
    return list(dict.fromkeys(asked or [default_level(lake, collection, name)]))
