"""Three label sets on the passages that all of them labelled: a judge and two people, whose
agreement with each other is the most that can be expected of it; or two judges and people."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from gradelake.analyses.qrels_export import require_label_set
from gradelake.analyses.stats.boards import counting_of
from gradelake.analyses.stats.kappas import LEVELS, Kappa, Met, apart, kappa
from gradelake.analyses.stats.options import KINDS
from gradelake.analyses.stats.resample import Spread, or_none, student_reach
from gradelake.sql.lake.opening import Lake

# what a judge's label rubrics were distilled from says nothing about its agreement
TOGETHER = """
    select
        query_id,
        greatest(one.label, 0),
        greatest(other.label, 0),
        greatest(third.label, 0),
        count(*)::double
    from lake.marts.relevance_labels as one
    inner join lake.marts.relevance_labels as other using (collection, query_id, passage_id)
    inner join lake.marts.relevance_labels as third using (collection, query_id, passage_id)
    where
        collection = $collection
        and one.label_set = $sides[1]
        and other.label_set = $sides[2]
        and third.label_set = $sides[3]
        and (query_id, passage_id) not in (
            select (query_id, passage_id) from lake.marts.sampled_pairs
            where collection = $collection and label_set in (select unnest($sides))
        )
    group by all
    order by all
"""
CEILINGS = """
    select
        [label_set, 'assessor:' || assessor, 'assessor:' || other_assessor] as sides,
        kind,
        [kappa_assessor, kappa_other, kappa_people] as kappas,
        shortfall
    from lake.marts.human_ceiling
    where
        collection = $collection
        and (
            len($label_sets::varchar[]) = 0
            or label_set in (select unnest($label_sets::varchar[]))
        )
        and (len($kinds::varchar[]) = 0 or kind in (select unnest($kinds::varchar[])))
    order by sides, list_position(['graded', 'linear', 'quadratic', 'binary'], kind)
"""


@dataclass(frozen=True)
class Together:
    """Kappas of three label sets on the same `n` passages, two at a time; a difference of these,
    and the p of there being none. None where something is undefined."""

    sides: tuple[str, str, str]
    kind: str
    kappas: list[float | None]
    spreads: list[Spread]
    difference: float | None
    spread: Spread
    p: float | None
    n: int


def together(
    meeting: tuple[Met, Sequence[int]],
    kind: str,
    pairs: Sequence[tuple[int, int]],
    weights: Sequence[float],
    n_replicates: int,
    seed: int,
    confidence: float,
    sides: tuple[str, str, str] = ("", "", ""),
) -> Together:
    """The kappas of `pairs` of three sides that meet, each with its cut, and the sum of these by
    `weights`, a difference.

    Units are resampled for all kappas at once. Interval and p of the difference are Student's, with
    the bootstrap's standard error, so that they never disagree, and serve a difference of three
    kappas, too, in which no labels can be swapped, as a permutation test does.
    """
    met, cuts = meeting
    distances = [
        apart(kind, [met.scales[side] for side in pair], *(cuts[side] for side in pair))
        for pair in pairs
    ]

    def each(counts: np.ndarray) -> np.ndarray:
        sides = zip(pairs, distances, strict=True)
        # without the third side, which stands as far from the end as the two make together
        found = np.array([kappa(counts.sum(axis=-sum(pair)), distance) for pair, distance in sides])
        return np.stack([*found, np.tensordot(weights, found, 1)], axis=-1)

    drawn = met.resampled(each, n_replicates, seed)
    *values, difference = each(met.counts.sum(axis=0)).tolist()
    apart_by = [
        np.expand_dims(distance, 3 - sum(pair))
        for pair, distance in zip(pairs, distances, strict=True)
    ]
    spreads = [
        met.spread(value, drawn[:, at], confidence, met.n_disagreeing(of), is_correlation=True)
        for at, (value, of) in enumerate(zip(values, apart_by, strict=True))
    ]
    n_telling = met.n_disagreeing(*apart_by)
    spread = met.spread(difference, drawn[:, -1], confidence, n_telling)
    p = _p(difference, spread, met.n_alike(n_telling), confidence)
    known = [or_none(value) for value in values]
    n_pairs = int(met.counts.sum())
    return Together(sides, kind, known, spreads, or_none(difference), spread, p, n_pairs)


def _p(difference: float, spread: Spread, n: float, confidence: float) -> float | None:
    """Two-sided, by the interval's own standard error; None where it has none."""
    from scipy.special import stdtr

    if spread.low is None or spread.high is None:
        return None
    error = (spread.high - spread.low) / 2 / student_reach(n, confidence)
    return float(2 * stdtr(n - 1, -abs(difference) / error))


def _meeting(lake: Lake, collection: str, sides: Sequence[str]) -> tuple[Met, list[int]] | None:
    """How three label sets meet, and from where on each counts as relevant: as its boards have it,
    an assessor's from the collection's min_relevant on. None where they never do."""
    rows = lake.rows(TOGETHER, collection=collection, sides=list(sides))
    counting = counting_of(lake, collection)
    levels = {name: levels for name, *levels in lake.rows(LEVELS, collection=collection)}
    cuts = [levels[name][name.startswith("assessor:")] for name in sides]
    return (
        (Met.of(rows, {query: of for query, (_, of) in counting.items()}), cuts) if rows else None
    )


def ceilings(
    lake: Lake,
    collection: str,
    label_sets: Sequence[str] = (),
    kinds: Sequence[str] = (),
    n_replicates: int = 10_000,
    seed: int = 1,
    confidence: float = 0.95,
) -> list[Together]:
    """The mart `human_ceiling` with intervals: a judge against each of two people (`kappas[0]`,
    `kappas[1]`), these against each other (`kappas[2]`), on the passages that all three labelled.

    `difference` is the mart's `shortfall`. Raises `BadInput` for a label set that is not there.
    """
    for name in label_sets:
        require_label_set(lake, collection, name)
    asked = {"collection": collection, "label_sets": list(label_sets), "kinds": list(kinds)}
    found = []
    pairs, weights = [(0, 1), (0, 2), (1, 2)], (-0.5, -0.5, 1)
    for sides, rows in groupby(lake.rows(CEILINGS, **asked), lambda row: tuple(row[0])):
        meeting = _meeting(lake, collection, sides)
        assert meeting, "the mart has no others"
        for _, kind, kappas, shortfall in rows:
            one = together(meeting, kind, pairs, weights, n_replicates, seed, confidence, sides)
            found.append(replace(one, kappas=kappas, difference=shortfall))
    return found


def compare_judges(
    lake: Lake,
    collection: str,
    reference: str,
    against: str,
    found: Sequence[Kappa],
    n_replicates: int = 10_000,
    seed: int = 1,
    confidence: float = 0.95,
) -> list[Together]:
    """Do judges agree better with the reference than another does, on passages that all three
    labelled? `kappas[0]` is the judge's, `kappas[1]` the other's; of the kinds
    that `found` (`kappa_intervals`) has of both, where boards take labels as relevant."""
    kinds_of: dict[str, dict[str, None]] = {}
    for one in found:
        if one.kind in KINDS[:4]:
            kinds_of.setdefault(one.label_set, {})[one.kind] = None
    theirs = kinds_of.pop(against, {})
    compared = []
    pairs = [(0, 2), (1, 2)]
    for name, kinds in kinds_of.items():
        sides = (name, against, reference)
        if meeting := _meeting(lake, collection, sides):
            compared += [
                together(meeting, kind, pairs, (1, -1), n_replicates, seed, confidence, sides)
                for kind in kinds
                if kind in theirs
            ]
    return compared
