"""How far the labels that are missing in two systems' first k passages could move a difference."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf, log2

Passage = tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Head:
    """What two systems have in their first `k` of one query.

    `passages`: (rank of the first system, None below k; of the second; label, None where there is
    none); `labels`: all of the query, of passages that neither has there, too. From `level` on a
    passage is relevant; no label is above `top`.
    """

    passages: Sequence[Passage]
    labels: Sequence[int]
    k: int
    level: int
    top: int

    @property
    def unlabelled(self) -> list[Passage]:
        return [one for one in self.passages if one[2] is None]

    @property
    def relevant(self) -> list[Passage]:
        return [one for one in self.passages if one[2] is not None and one[2] >= self.level]

    @property
    def most_ahead(self) -> int:
        """How many more relevant passages the first system can have than the second."""
        known = sum(bool(first) - bool(second) for first, second, _ in self.relevant)
        return known + sum(second is None for _, second, _ in self.unlabelled)


def least_and_most(family: str, head: Head) -> tuple[float, float]:
    """The least and the greatest value of a measure for the first system, less that for the second.

    Over all labels, 0 to the top, that the unlabelled passages of `head` may have; passages that
    neither has in its first k get none. Both are exact: there are labels that give them.
    """
    turned = [(second, first, label) for first, second, label in head.passages]
    most = BOUNDED[family]
    return -most(replace(head, passages=turned)), most(head)


def _precision(head: Head) -> float:
    return head.most_ahead / head.k


def _recall(head: Head) -> float:
    """What both have only adds to the relevant passages: it brings nearer to 0 what is below it."""
    lead = head.most_ahead
    helpful = [one for one in head.unlabelled if one[0] and (one[1] is None or lead < 0)]
    n_relevant = sum(label >= head.level for label in head.labels)
    return lead / max(n_relevant + len(helpful), 1)


def _first_relevant(worth: Callable[[int], float]) -> Callable[[Head], float]:
    """Of measures that see the first relevant passage alone: one more of them at most helps."""

    def lead(passages: list[Passage]) -> float:
        ranks = [[rank for one in passages if (rank := one[place])] for place in (0, 1)]
        first, second = (worth(min(of)) if of else 0.0 for of in ranks)
        return first - second

    def most(head: Head) -> float:
        return max(lead(head.relevant + more) for more in ([], *([u] for u in head.unlabelled)))

    return most


def _ndcg(head: Head) -> float:
    """The greatest quotient of the lead in DCG and the ideal DCG, by Dinkelbach (On nonlinear
    fractional programming, Management Science 1967): labels that make lead - t * ideal greatest
    give the next t, until it grows no more.

    A label adds its discounts once for each value from 1 up to it. To n passages at or above a
    value the ideal ranking gives the first n discounts, whichever passages they are; so the best s
    to be there are those with the greatest lead in discounts, and s is found for each value by
    itself. (The higher the value, the fewer are there already, the dearer is one more, the smaller
    the best s: those sets lie in each other.) For a t below 0 what is to be greatest is convex in
    the labels: each is 0 or the top.
    """
    discounts = [1 / log2(rank + 1) for rank in range(1, head.k + 1)]

    def ahead(passage: Passage) -> float:
        first, second = (discounts[rank - 1] if rank else 0.0 for rank in passage[:2])
        return first - second

    unknown = sorted(map(ahead, head.unlabelled), reverse=True)
    leads = list(accumulate(unknown, initial=0.0))  # of the best s
    beyond = [0.0] * (len(head.labels) + len(unknown))
    ideal = list(accumulate([*discounts, *beyond], initial=0.0))  # of n passages
    at_least = [sum(label >= value for label in head.labels) for value in range(1, head.top + 1)]
    known = sum(ahead(one) * max(one[2] or 0, 0) for one in head.passages)

    def quotient(sizes: list[int]) -> float:
        gain = sum(ideal[n + s] for n, s in zip(at_least, sizes, strict=True))
        return (known + sum(leads[s] for s in sizes)) / gain if gain else 0.0

    def best(t: float, among: list[int]) -> int:
        worth = [
            len(among) * lead - t * sum(ideal[n + s] for n in among) for s, lead in enumerate(leads)
        ]
        return max(range(len(leads)), key=lambda s: (worth[s], s))

    t, better = -inf, quotient([0] * head.top)
    while better > t + 1e-12:
        t = better
        together = [at_least] * head.top if t < 0 else [[n] for n in at_least]
        better = quotient([best(t, among) for among in together])
    return t


# family of measures, as of `P@10` -> the most; without a cutoff they see all of a ranking
BOUNDED: dict[str, Callable[[Head], float]] = {
    "nDCG": _ndcg,
    "RR": _first_relevant(lambda rank: 1 / rank),
    "P": _precision,
    "R": _recall,
    "Success": _first_relevant(lambda rank: 1.0),
}
