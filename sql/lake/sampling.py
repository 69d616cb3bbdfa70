"""Samples of a label set's pairs: which pairs there are, and how many to draw of each stratum."""

from collections.abc import Mapping
from math import sqrt

from gradelake.sql.common.errors import BadInput

# the pairs of a label set that a sample can be drawn from
PAIRS = """
    select labels.collection, labels.query_id, labels.passage_id, labels.label
    from lake.marts.relevance_labels as labels
    where
        labels.collection = $collection
        and labels.label_set = $label_set
        and (
            $depth is null
            or exists (
                from lake.marts.rankings as entries
                where
                    entries.collection = labels.collection
                    and entries.query_id = labels.query_id
                    and entries.passage_id = labels.passage_id
                    and entries.rank <= $depth
            )
        )
"""


def allocate(sizes: Mapping[str, int], n: int, weights: Mapping[str, float]) -> dict[str, int]:
    """How many to draw from each stratum: `n` together, in proportion to `weights`; two of each, or
    all of a smaller one, because a stratum's variance needs two; and never more than it has.

    Raises `BadInput` where `n` is too small for that, or there are not so many.
    """
    drawn = {code: min(2, size) for code, size in sizes.items()}
    if n < sum(drawn.values()):
        raise BadInput(
            f"{n} pairs are too few: the label set has {len(sizes)} different labels",
            f"Ask for at least two pairs per label (--size {sum(drawn.values())}), better ten.",
        )
    if n > sum(sizes.values()):
        raise BadInput(
            f"there are {sum(sizes.values()):,} pairs to draw from, fewer than {n:,}",
            "Ask for fewer with --size.",
        )
    total = sum(weights.values())
    wanted = {code: n * weight / total for code, weight in weights.items()}
    for _ in range(n - sum(drawn.values())):
        open_ = [code for code in sizes if drawn[code] < sizes[code]]
        drawn[max(open_, key=lambda code: wanted[code] - drawn[code])] += 1
    return drawn


def neyman(sizes: Mapping[str, int], judged: Mapping[str, tuple[int, int]]) -> dict[str, float]:
    """The weight of each stratum in Neyman's allocation: N_h * S_h, its size times the standard
    deviation in it of what is estimated, here of whether people hold a pair relevant.

    Of all samples of a size, one with n_h in proportion to N_h * S_h gives a total the least
    variance. Sources: Neyman, On the two different aspects of the representative method (1934),
    Journal of the Royal Statistical Society 97; Cochran, Sampling Techniques (1977), section 5.5.
    `judged`: (pairs that people judged, those of them that are relevant), of each stratum; S_h is
    sqrt(p * (1 - p)) with p = (relevant + 1) / (judged + 2). The one and two (Laplace's rule of
    succession) stand for what is not known yet: without a judgment S_h is 0.5, the most that it
    can be, and a few judgments that agree do not make it 0.
    """
    weights = {}
    for code, size in sizes.items():
        n, relevant = judged.get(code, (0, 0))
        p = (relevant + 1) / (n + 2)
        weights[code] = size * sqrt(p * (1 - p))
    return weights
