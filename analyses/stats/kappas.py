"""How far labels agree with people's, passage by passage, and how much chance is in it."""

from typing import Any

import numpy as np

from gradelake.analyses.stats.boards import counting_of
from gradelake.analyses.stats.resample import Spread, in_blocks, or_none, resampled
from gradelake.sql.lake.opening import Lake

# passages that are relevant by label and reference, by the label, by the reference, and all
COUNTS = """
    select
        label_set,
        query_id,
        sum(n * (label >= level and judgment >= min_relevant)::int)::double,
        sum(n * (label >= level)::int)::double,
        sum(n * (judgment >= min_relevant)::int)::double,
        sum(n)::double
    from lake.intermediate.int_confusions
    inner join lake.marts.usual_levels using (collection, label_set)
    inner join lake.raw.collections using (collection)
    where collection = $collection and reference = $reference and not is_sampled
    group by all
    order by all
"""


def kappas(
    lake: Lake, collection: str, reference: str, n_replicates: int, seed: int
) -> dict[str, dict[str, Any]]:
    """label set, other assessors' too -> its kappa with the reference, where boards take labels as
    relevant: the mart's. {kappa, low, high, n, generosity}: its 95 % interval, for which queries
    are resampled, or clusters of them; of how many passages; and how much more of these the labels
    take as relevant, as a share. None where it is undefined."""
    cluster_of = {query: cluster for query, (_, cluster) in counting_of(lake, collection).items()}
    found: dict[str, dict[str, np.ndarray]] = {}
    for label_set, query, *counts in lake.rows(COUNTS, collection=collection, reference=reference):
        units, unit = found.setdefault(label_set, {}), cluster_of.get(query, query)
        units[unit] = units.get(unit, 0) + np.array(counts)
    return {
        name: kappa_of(np.array([*of.values()]), n_replicates, seed) for name, of in found.items()
    }


def kappa_of(counts: np.ndarray, n_replicates: int, seed: int) -> dict[str, Any]:
    """Of counts of units: (units, 4), as `COUNTS` has them."""

    def replicates(generator: np.random.Generator, n: int) -> dict:
        return {"kappa": _kappa(resampled(generator, n, len(counts)) @ counts)}

    value = float(_kappa(counts.sum(axis=0)))
    drawn = in_blocks(replicates, n_replicates, seed, len(counts))["kappa"]
    # on the scale of an angle, so that it ends within -1 and 1
    spread = Spread.around(value, drawn, len(counts), 0.95, is_correlation=True)
    _, ours, theirs, n = counts.sum(axis=0)
    about = {"low": spread.low, "high": spread.high, "n": int(n)}
    return {"kappa": or_none(value)} | about | {"generosity": float(ours - theirs) / int(n)}


def _kappa(counts: np.ndarray) -> np.ndarray:
    """(..., 4) -> (...); NaN where both sides say one thing only."""
    both, ours, theirs, n = np.moveaxis(counts, -1, 0)
    with np.errstate(invalid="ignore"):
        return 2 * (n * both - ours * theirs) / (n * (ours + theirs) - 2 * ours * theirs)
