"""Krippendorff's alpha over any number of labellers, with a bootstrap over queries.

The package `krippendorff` is the oracle in the tests. It is not used here: its licence (GPL) would
become this product's, and it cannot be asked for many resamples at once.
"""

from dataclasses import dataclass

import numpy as np

from gradelake.analyses.stats.resample import in_blocks, resampled


@dataclass(frozen=True)
class Coincidences:
    """How often two labellers gave a passage the labels c and k.

    `counts`: (queries, labels, labels), Krippendorff's coincidence matrix of each query; `scale`:
    (labels,), the labels in ascending order; `n_pairs`: (queries,), the query and passage pairs
    with at least two labels.
    """

    queries: tuple[str, ...]
    scale: np.ndarray
    counts: np.ndarray
    n_pairs: np.ndarray

    @property
    def disagrees(self) -> np.ndarray:
        """(queries,): whether two labellers gave a passage of it different labels."""
        return np.asarray((self.counts * (1 - np.eye(len(self.scale)))).any(axis=(1, 2)))


def coincidences(queries: np.ndarray, units: np.ndarray, labels: np.ndarray) -> Coincidences:
    """Count coincidences; one element of each array per label given.

    `queries`: the query's id, `units`: number of the query and passage pair, `labels`: the label.
    Units with fewer than two labels count nothing. Source: Krippendorff, Computing Krippendorff's
    alpha-reliability (2011), section C: each unit adds its pairs of labels, divided by its number
    of labels less one.
    """
    query_ids, query_of = np.unique(queries, return_inverse=True)
    scale, label_of = np.unique(labels, return_inverse=True)
    _, first, unit_of = np.unique(units, return_index=True, return_inverse=True)
    per_unit = np.zeros((len(first), len(scale)))
    np.add.at(per_unit, (unit_of, label_of), 1)
    n_labels = per_unit.sum(axis=1)
    pairable = n_labels > 1
    unit_query = query_of[first]
    counts = np.zeros((len(query_ids), len(scale), len(scale)))
    n_pairs = np.bincount(unit_query[pairable], minlength=len(query_ids))
    # a unit's ordered pairs of two different labellers, per query
    weighted = per_unit[pairable] / (n_labels[pairable] - 1)[:, None]
    for number in np.flatnonzero(n_pairs):
        here = unit_query[pairable] == number
        counts[number] = weighted[here].T @ per_unit[pairable][here]
        counts[number] -= np.diag(weighted[here].sum(axis=0))
    return Coincidences(tuple(map(str, query_ids)), scale.astype(float), counts, n_pairs)


def alpha(counts: np.ndarray, scale: np.ndarray, metric: str = "ordinal") -> np.ndarray:
    """Alpha of coincidence matrices (..., labels, labels) -> (...); NaN where no label varies.

    1 - observed / expected disagreement (Krippendorff 2011, sections C and D). The squared
    difference of two labels is 0 or 1 (nominal), that of their values (interval), or that of the
    numbers of labels given from one to the other, each end counted half (ordinal).
    """
    marginals = counts.sum(axis=-1)
    total = marginals.sum(axis=-1)
    n_labels = len(scale)
    if metric == "nominal":
        distance = 1.0 - np.eye(n_labels)
    elif metric == "interval":
        distance = (scale[:, None] - scale[None, :]) ** 2
    else:
        # place of a label: those below it and half of its own
        place = np.cumsum(marginals, axis=-1) - marginals / 2
        distance = (place[..., :, None] - place[..., None, :]) ** 2
    observed = (counts * distance).sum(axis=(-2, -1))
    expected = (marginals[..., :, None] * marginals[..., None, :] * distance).sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - (total - 1) * observed / expected, np.nan)


def bootstrap_alpha(
    found: Coincidences,
    metric: str,
    n_replicates: int = 10_000,
    seed: int = 1,
    clusters: np.ndarray | None = None,
) -> np.ndarray:
    """Alpha of `n_replicates` draws of as many queries, with replacement; NaN where undefined.

    `clusters`: (queries,); they are drawn as a whole.
    """
    flat = found.counts.reshape(len(found.queries), -1)
    if clusters is not None and len(names := np.unique(clusters)) < len(clusters):
        flat = np.array([flat[clusters == name].sum(axis=0) for name in names])

    def replicates(generator: np.random.Generator, n: int) -> dict:
        drawn = resampled(generator, n, len(flat)) @ flat
        return {"alpha": alpha(drawn.reshape(n, *found.counts.shape[1:]), found.scale, metric)}

    return in_blocks(replicates, n_replicates, seed, max(flat.shape))["alpha"]
