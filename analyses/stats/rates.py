"""How large a share of passages is relevant, from a judge's labels and what people said of some."""

from dataclasses import dataclass, replace

import numpy as np

from gradelake.analyses.choosing import compared_with, min_relevant, reference_of
from gradelake.analyses.stats.boards import counting_of
from gradelake.analyses.stats.kappas import Met
from gradelake.analyses.stats.resample import UNDEFINED, Spread, or_none
from gradelake.sql.lake.opening import Lake

# labelled passages; those of them that people hold relevant, and the others that they judged, each
# as often as one was drawn for it (`export qrels --sample`). What a judge's label rubrics were
# distilled from says nothing about its errors.
COUNTS = """
    with

    drawn as (
        select query_id, passage_id, min(1 / probability) as weight
        from lake.raw.review_samples
        where collection = $collection and 'assessor:' || assessor = $reference
        group by all
    ),

    people as (
        select query_id, passage_id, label >= $relevant as is_relevant
        from lake.marts.relevance_labels
        where collection = $collection and label_set = $reference
    )

    select
        query_id,
        greatest(label, 0) as label,
        count(*)::double,
        coalesce(sum(coalesce(weight, 1)) filter (where is_relevant), 0),
        coalesce(sum(coalesce(weight, 1)) filter (where not is_relevant), 0),
        count(is_relevant)
    from lake.marts.relevance_labels
    left join people using (query_id, passage_id)
    left join drawn using (query_id, passage_id)
    where
        collection = $collection
        and label_set = $label_set
        and (query_id, passage_id) not in (
            select (query_id, passage_id) from lake.marts.sampled_pairs
            where collection = $collection and label_set = $label_set
        )
    group by all
    order by all
"""
FIGURES = ("rate", "sensitivity", "specificity", "judged", "powered", "corrected", "youden")


@dataclass(frozen=True)
class Rates:
    """What is relevant where labels are cut, each figure with its interval.

    `rate`: the share by the judge's labels; `judged`: by people, of the passages that they judged;
    `sensitivity`, `specificity`, `youden`: these two less 1; `corrected`: the rate, corrected by
    these two; `powered`: by how many of either label people hold relevant. None where it is
    undefined, as is `corrected` where the judge is not shown to be better than chance.
    """

    label_cut: int
    n: int
    n_judged: int
    figures: dict[str, float | None]
    spreads: dict[str, Spread]


def figures(counts: np.ndarray, is_above: np.ndarray) -> np.ndarray:
    """(..., labels, 3), as `COUNTS` has them -> (..., `FIGURES`); NaN where it is undefined.

    `corrected`: Rogan and Gladen, Estimating prevalence from the results of a screening test
    (American Journal of Epidemiology 1978). `powered`: prediction-powered inference whose tuning is
    the slope of judgments on labels; of two classes it is the post-stratified estimate (Särndal,
    Swensson and Wretman 1992, section 7.6).
    """
    above, below = (counts[..., each, :].sum(axis=-2) for each in (is_above, ~is_above))
    ours, both, label_only = np.moveaxis(above, -1, 0)
    others, reference_only, neither = np.moveaxis(below, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = ours / (ours + others)
        sensitivity, specificity = both / (both + reference_only), neither / (neither + label_only)
        youden = sensitivity + specificity - 1
        found = {
            "rate": rate,
            "sensitivity": sensitivity,
            "specificity": specificity,
            "judged": (both + reference_only) / (above + below)[..., 1:].sum(axis=-1),
            "powered": rate * both / (both + label_only)
            + (1 - rate) * reference_only / (reference_only + neither),
            "corrected": (rate + specificity - 1) / np.where(youden == 0, np.nan, youden),
            "youden": youden,
        }
    return np.stack([found[name] for name in FIGURES], axis=-1)


def rates_of(
    met: Met, n_judged: int, n_replicates: int, seed: int, confidence: float
) -> list[Rates]:
    """`met`: units, labels, and what `COUNTS` has of each. Queries are resampled for all figures at
    once, so that intervals hold what is uncertain of the rate and of the judge's errors."""
    scale, counts = met.scales[0], met.counts
    cuts = scale[scale > 0].tolist()

    def each(counts: np.ndarray) -> np.ndarray:
        return np.stack([figures(counts, scale >= cut) for cut in cuts], axis=-2)

    drawn = met.resampled(each, n_replicates, seed)
    found = []
    for at, (cut, values) in enumerate(zip(cuts, each(counts.sum(axis=0)), strict=True)):
        n_units = _n_units(counts, scale >= cut)
        spreads = {
            name: _spread(
                name, values[place], drawn[:, at, place], len(counts), n_units[name], confidence
            )
            for place, name in enumerate(FIGURES)
        }
        of = {name: or_none(value) for name, value in zip(FIGURES, values, strict=True)}
        if (spreads["youden"].low or 0) <= 0:
            of["corrected"] = None
            spreads["corrected"] = Spread(None, None, None, n_replicates, UNDEFINED)
        found.append(Rates(cut, int(counts[..., 0].sum()), n_judged, of, spreads))
    return found


def _n_units(counts: np.ndarray, is_above: np.ndarray) -> dict[str, int]:
    """Figure -> how many units have what it is a share of, of (units, labels, 3), as `COUNTS` has
    them; of what is made of two shares, that of which fewer have any."""
    above, below = (counts[:, each].sum(axis=1).T > 0 for each in (is_above, ~is_above))
    _, both, label_only = above
    _, reference_only, neither = below
    relevant, other = int((both | reference_only).sum()), int((neither | label_only).sum())
    judged_above, judged_below = both | label_only, neither | reference_only
    return {
        "rate": len(counts),
        "sensitivity": relevant,
        "specificity": other,
        "judged": int((judged_above | judged_below).sum()),
        "powered": int(min(judged_above.sum(), judged_below.sum())),
        "corrected": min(relevant, other),
        "youden": min(relevant, other),
    }


def _spread(
    name: str, value: float, drawn: np.ndarray, n_drawn: int, n: int, confidence: float
) -> Spread:
    """A share's spread on the scale of the angle, as a correlation's: it ends within 0 and 1."""
    is_difference = name == "youden"
    if not is_difference:
        value, drawn = 2 * value - 1, 2 * drawn - 1
    spread = Spread.around(value, drawn, n_drawn, confidence, is_correlation=True, n_effective=n)
    if is_difference:
        return spread
    low, high, error = (
        None if end is None else (end + shift) / 2
        for end, shift in ((spread.low, 1), (spread.high, 1), (spread.standard_error, 0))
    )
    return replace(spread, low=low, high=high, standard_error=error)


def rates(
    lake: Lake,
    collection: str,
    label_set: str,
    reference: str | None = None,
    n_replicates: int = 10_000,
    seed: int = 1,
    confidence: float = 0.95,
) -> list[Rates]:
    """At each cut of a judge's labels; the reference's count as relevant from min_relevant on.

    Raises `BadInput` for what is not compared.
    """
    reference = reference_of(lake, collection, reference)
    compared_with(lake, collection, reference, (label_set,))
    asked = {"collection": collection, "label_set": label_set, "reference": reference}
    rows = lake.rows(COUNTS, **asked, relevant=min_relevant(lake, collection))
    counting = counting_of(lake, collection)
    met = Met.of(
        [(query, label, at, n) for query, label, *counts, _ in rows for at, n in enumerate(counts)],
        {query: cluster for query, (_, cluster) in counting.items()},
    )
    return rates_of(met, sum(row[-1] for row in rows), n_replicates, seed, confidence)
