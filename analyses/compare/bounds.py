"""How far the labels that are missing in two systems' first k passages could move a difference."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf, log2

Passage = tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Head:
    """What two systems have in their first k of one query.

    `passages`: (rank of the first system, None below k; of the second; label, None where there is
    none); `labels`: all labels of the query, of passages that neither has there, too.
    """

    passages: Sequence[Passage]
    labels: Sequence[int]

    def turned(self) -> "Head":
        return replace(self, passages=[(b, a, label) for a, b, label in self.passages])

    @property
    def unlabelled(self) -> list[Passage]:
        return [one for one in self.passages if one[2] is None]


@dataclass(frozen=True)
class Scale:
    """Of a measure with a cutoff: its k, the label from which a passage is relevant, and the label
    that none is above."""

    k: int
    level: int
    top: int


def least_and_most(family: str, scale: Scale, head: Head) -> tuple[float, float]:
    """The least and the greatest value of a measure for the first system, less that for the second.

    Over all labels, 0 to the top, that the unlabelled passages of `head` may have; passages that
    neither has in its first k get none. Both are exact: there are labels that give them.
    """
    most = BOUNDED[family]
    return -most(scale, head.turned()), most(scale, head)


def _most_precision(scale: Scale, head: Head) -> float:
    return (_lead(scale, head) + _only_first(head)) / scale.k


def _most_recall(scale: Scale, head: Head) -> float:
    """What both have adds to the relevant passages alone: it draws a lead that is below 0 to it."""
    lead, n_only = _lead(scale, head) + _only_first(head), _only_first(head)
    n_both = sum(bool(a and b) for a, b, _ in head.unlabelled)
    n_relevant = sum(label >= scale.level for label in head.labels)
    return lead / max(n_relevant + n_only + n_both * (lead < 0), 1)


def _lead(scale: Scale, head: Head) -> int:
    """How many more relevant passages the first system is known to have."""
    return sum(
        bool(a) - bool(b)
        for a, b, label in head.passages
        if label is not None and label >= scale.level
    )


def _only_first(head: Head) -> int:
    return sum(b is None for _, b, _ in head.unlabelled)


def _most_of_one(worth: Callable[[int], float], scale: Scale, head: Head) -> float:
    """Of measures that see the first relevant passage alone: one more of them at most counts."""
    known = [one for one in head.passages if one[2] is not None and one[2] >= scale.level]

    def lead(passages: list[Passage]) -> float:
        first, second = (
            min((one[place] for one in passages if one[place]), default=None) for place in (0, 1)
        )
        return (worth(first) if first else 0) - (worth(second) if second else 0)

    return max([lead(known), *(lead([*known, one]) for one in head.unlabelled)])


def _most_reciprocal_rank(scale: Scale, head: Head) -> float:
    return _most_of_one(lambda rank: 1 / rank, scale, head)


def _most_success(scale: Scale, head: Head) -> float:
    return _most_of_one(lambda _: 1, scale, head)


def _most_ndcg(scale: Scale, head: Head) -> float:
    """The greatest quotient of the lead in DCG and the ideal DCG, by Dinkelbach (On nonlinear
    fractional programming, Management Science 1967): labels that make lead - t * ideal greatest
    give the next t, until it grows no more.

    A label adds its discounts once for each value from 1 up to it. To `n` passages at or above a
    value the ideal ranking gives the first `n` discounts, whichever passages they are; so the best
    `s` to be there are those with the greatest lead in discounts, and `s` is found for each value
    by itself. (The higher the value, the fewer are there already, the dearer one more, the smaller
    the best `s`: those sets lie in each other.) For a t below 0 what is to be greatest is convex in
    the labels: each is 0 or the top.
    """
    discounts = [1 / log2(rank + 1) for rank in range(1, scale.k + 1)]

    def lead_of(passage: Passage) -> float:
        first, second = (discounts[rank - 1] if rank else 0.0 for rank in passage[:2])
        return first - second

    n_most = len(head.labels) + len(head.unlabelled)
    ideal = list(accumulate([*discounts, *[0.0] * n_most], initial=0.0))  # by how many passages
    ahead = sorted(map(lead_of, head.unlabelled), reverse=True)
    leads = list(accumulate(ahead, initial=0.0))
    at_least = [sum(label >= value for label in head.labels) for value in range(1, scale.top + 1)]
    known = sum(lead_of(one) * max(one[2], 0) for one in head.passages if one[2] is not None)

    def value(sizes: list[int]) -> float:
        gain = sum(ideal[n + s] for n, s in zip(at_least, sizes, strict=True))
        return (known + sum(leads[s] for s in sizes)) / gain if gain else 0.0

    def best(t: float, among: list[int]) -> int:
        return max(
            range(len(leads)),
            key=lambda s: (len(among) * leads[s] - t * sum(ideal[n + s] for n in among), s),
        )

    found, better = -inf, value([0] * scale.top)
    while better > found + 1e-12:
        found = better
        if found < 0:
            better = value([best(found, at_least)] * scale.top)
        else:
            better = value([best(found, [n]) for n in at_least])
    return found


# families of measures, as of `P@10`; those without a cutoff see further than rankings are kept
BOUNDED = {
    "nDCG": _most_ndcg,
    "RR": _most_reciprocal_rank,
    "P": _most_precision,
    "R": _most_recall,
    "Success": _most_success,
}
