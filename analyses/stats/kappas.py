"""How far labels agree, passage by passage, beyond chance: kappas with intervals.

Every kappa is Cohen's (1960; weighted 1968): 1 less the disagreement that is observed, over the
disagreement of chance alone. The kinds of the mart `kappa` differ in how far two labels are apart.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradelake.analyses.choosing import compared_with
from gradelake.analyses.stats.boards import counting_of
from gradelake.analyses.stats.counting import n_effective
from gradelake.analyses.stats.options import KINDS
from gradelake.analyses.stats.resample import Spread, in_blocks, or_none, resampled
from gradelake.sql.lake.opening import Lake

# how often which label meets which judgment; labels below 0 count as 0, as in the mart
COUNTS = """
    select label_set, query_id, greatest(label, 0), greatest(judgment, 0), sum(n)::double
    from lake.intermediate.int_confusions
    where collection = $collection and reference = $reference and not is_sampled
    group by all
    order by all
"""
LEVELS = """
    select label_set, level, min_relevant
    from lake.marts.usual_levels
    inner join lake.raw.collections using (collection)
    where collection = $collection
"""
# without a kind: of two classes against what people hold relevant, of all labels on a common scale
ROWS = """
    select label_set, kind, cut, label_cut, reference_cut, kappa, n
    from lake.marts.kappa
    inner join lake.raw.collections using (collection)
    where
        collection = $collection
        and reference = $reference
        and not is_sampled
        and label_set in (select unnest($label_sets))
        and if(
            len($kinds::varchar[]) > 0,
            kind in (select unnest($kinds::varchar[])),
            kind = 'binary' or (label_cut is null and is_common_scale)
        )
        and (kind != 'binary' or assessor is null or reference_cut = min_relevant)
    order by label_set, list_position($order, kind), label_cut, reference_cut
"""


@dataclass(frozen=True)
class Met:
    """How often labels of several sides meet on a passage.

    `scales`: the labels of each side; `counts`: (units, labels of the first side, of the second,
    ...), where a unit is a query, or a cluster of queries.
    """

    scales: tuple[np.ndarray, ...]
    counts: np.ndarray

    @classmethod
    def of(cls, rows: Iterable[Sequence], cluster_of: dict[str, str]) -> "Met":
        """`rows`: (query, each side's label, how often)."""
        queries, *labels, n = zip(*rows, strict=True)
        units = np.unique([cluster_of.get(each, each) for each in queries], return_inverse=True)[1]
        sides = [np.unique(each, return_inverse=True) for each in labels]
        counts = np.zeros((units.max() + 1, *(len(scale) for scale, _ in sides)))
        np.add.at(counts, (units, *(at for _, at in sides)), n)
        return cls(tuple(scale for scale, _ in sides), counts)

    def resampled(
        self, statistics: Callable[[np.ndarray], np.ndarray], n_replicates: int, seed: int
    ) -> np.ndarray:
        """(replicates, figures) of units drawn with replacement; `statistics` takes counts of
        (replicates, labels, labels, ...)."""
        flat = self.counts.reshape(len(self.counts), -1)

        def replicates(generator: np.random.Generator, n: int) -> dict:
            drawn = resampled(generator, n, len(flat)) @ flat
            return {"": statistics(drawn.reshape(n, *self.counts.shape[1:]))}

        return in_blocks(replicates, n_replicates, seed, max(flat.shape))[""]

    @property
    def n_effective(self) -> float:
        """How many units of as many passages each would tell as much."""
        return n_effective(self.counts.sum(axis=tuple(range(1, self.counts.ndim))))

    def spread(
        self, value: float, drawn: np.ndarray, confidence: float, n_telling: int, **scale: bool
    ) -> Spread:
        """The interval around a figure of all units, from its replicates. `n_telling`: in how many
        units there is what makes it vary, such as a disagreement; where few have all of it,
        Student's reaches farther."""
        n_drawn, n = len(self.counts), self.n_alike(n_telling)
        return Spread.around(value, drawn, n_drawn, confidence, n_effective=n, **scale)

    def n_alike(self, n_telling: int) -> float:
        """How many units of one size tell as much, of which so many tell anything; where none does,
        the figure does not vary."""
        return min(self.n_effective, n_telling or len(self.counts))

    def n_disagreeing(self, *distances: np.ndarray) -> int:
        """How many units have labels that are apart, by any of these distances."""
        flat = self.counts.reshape(len(self.counts), -1)
        is_apart = np.array(
            [np.broadcast_to(distance, self.counts.shape[1:]).ravel() for distance in distances]
        )
        return int((flat[:, (is_apart > 0).any(axis=0)] > 0).any(axis=1).sum())


def apart(
    kind: str, scales: Sequence[np.ndarray], label_cut: int | None, reference_cut: int | None
) -> np.ndarray:
    """(labels, judgments): how far they are apart, by a kind of kappa."""
    one, other = np.ix_(*scales)
    if kind == "boxed":
        return 1.0 * ((one == label_cut) != (other == reference_cut))
    if kind in ("binary", "collapsed"):
        return 1.0 * ((one >= label_cut) != (other >= reference_cut))
    return {"graded": 1.0 * (one != other), "linear": abs(one - other)}.get(
        kind, (one - other) ** 2
    )


def kappa(counts: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """(..., labels, judgments) -> (...); NaN where chance alone would agree fully."""
    ours, theirs = counts.sum(axis=-1), counts.sum(axis=-2)
    observed = (counts * distance).sum(axis=(-2, -1))
    expected = ((ours @ distance) * theirs).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - ours.sum(axis=-1) * observed / expected, np.nan)


def kappas_of(
    met: Met, distances: Sequence[np.ndarray], n_replicates: int, seed: int, confidence: float
) -> list[tuple[float, Spread]]:
    """Each kappa and its interval, for which queries are resampled, or clusters of them: around the
    kappa, on the scale of an angle, so that it ends within -1 and 1, with as many degrees of
    freedom as queries of one size would have, or as have a disagreement."""

    def each(counts: np.ndarray) -> np.ndarray:
        return np.stack([kappa(counts, distance) for distance in distances], axis=-1)

    drawn = met.resampled(each, n_replicates, seed).T
    figures = zip(each(met.counts.sum(axis=0)).tolist(), drawn, distances, strict=True)
    return [
        (value, met.spread(value, own, confidence, met.n_disagreeing(by), is_correlation=True))
        for value, own, by in figures
    ]


def _met(lake: Lake, collection: str, reference: str) -> dict[str, Met]:
    """label set -> how its labels meet those of the reference."""
    cluster_of = {query: cluster for query, (_, cluster) in counting_of(lake, collection).items()}
    rows: dict[str, list] = {}
    for label_set, *row in lake.rows(COUNTS, collection=collection, reference=reference):
        rows.setdefault(label_set, []).append(row)
    return {name: Met.of(counts, cluster_of) for name, counts in rows.items()}


def kappas(
    lake: Lake, collection: str, reference: str, n_replicates: int, seed: int
) -> dict[str, dict[str, Any]]:
    """label set, other assessors' too -> its kappa with the reference, where boards take labels as
    relevant. {kappa, low, high, no_interval, n, n_disagreeing, generosity}: its 95% interval, or
    why there is none; of how many passages; in how many queries they disagree; and how much more
    passages the labels take as relevant, as a share. None where it is undefined."""
    levels = {name: levels for name, *levels in lake.rows(LEVELS, collection=collection)}
    found = {}
    for name, met in _met(lake, collection, reference).items():
        cuts, totals = levels[name], met.counts.sum(axis=0)
        distance = apart("binary", met.scales, *cuts)
        ((value, spread),) = kappas_of(met, [distance], n_replicates, seed, 0.95)
        n = totals.sum()
        ours, theirs = (
            totals.sum(axis=1 - side)[met.scales[side] >= cuts[side]].sum() for side in (0, 1)
        )
        about = {"low": spread.low, "high": spread.high, "no_interval": spread.no_interval}
        about |= {"n": int(n), "n_disagreeing": met.n_disagreeing(distance)}
        generosity = float(ours - theirs) / int(n)
        found[name] = {"kappa": or_none(value)} | about | {"generosity": generosity}
    return found


@dataclass(frozen=True)
class Kappa:
    """A row of the mart `kappa`, and the interval of its kappa."""

    label_set: str
    kind: str
    cut: str
    label_cut: int | None
    reference_cut: int | None
    kappa: float | None
    spread: Spread
    n: int
    n_disagreeing: int


def kappa_intervals(
    lake: Lake,
    collection: str,
    reference: str,
    label_sets: Sequence[str] = (),
    kinds: Sequence[str] = (),
    n_replicates: int = 10_000,
    seed: int = 1,
    confidence: float = 0.95,
) -> list[Kappa]:
    """The mart's kappas with a reference, each with an interval by resampling queries.

    No label sets: all that are compared with it. No kinds: at each cut of the labels, and of all
    labels where both sides have one scale. Raises `BadInput` for what is not compared.
    """
    names = compared_with(lake, collection, reference, tuple(label_sets))
    asked = {"collection": collection, "reference": reference, "label_sets": names}
    rows: dict[str, list] = {}
    for name, *row in lake.rows(ROWS, **asked, kinds=list(kinds), order=list(KINDS)):
        rows.setdefault(name, []).append(row)
    met = _met(lake, collection, reference)
    found = []
    for name, counts in rows.items():
        distances = [apart(kind, met[name].scales, *cuts) for kind, _, *cuts, _, _ in counts]
        spreads = kappas_of(met[name], distances, n_replicates, seed, confidence)
        found += [
            Kappa(
                name, kind, cut, ours, theirs, value, spread, n, met[name].n_disagreeing(distance)
            )
            for (kind, cut, ours, theirs, value, n), (_, spread), distance in zip(
                counts, spreads, distances, strict=True
            )
        ]
    return found
