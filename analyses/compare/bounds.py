"""How far the labels that are missing in two systems' first k passages could move a difference."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf, log2

Passage = tuple[int | None, int | None, int | None]

# family of measures, as of `P@10` -> the gain of a relevant passage by its rank; without a cutoff
# they see all of a ranking
BOUNDED: dict[str, Callable[[int], float]] = {
    "nDCG": lambda rank: 1 / log2(rank + 1),
    "RR": lambda rank: 1 / rank,
    "P": lambda _: 1.0,
    "R": lambda _: 1.0,
    "Success": lambda _: 1.0,
}


@dataclass(frozen=True)
class FirstPassages:
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


def least_and_most(family: str, head: FirstPassages) -> tuple[float, float]:
    """The least and the greatest value of a measure for the first system, less that for the second.

    Over all labels, 0 to the top, that the unlabelled passages of `head` may have; passages that
    neither has in its first k get none. Both are exact: there are labels that give them.
    """
    most = _most_of_first if family in ("RR", "Success") else _most_of_all
    turned = [(second, first, label) for first, second, label in head.passages]
    return -most(family, replace(head, passages=turned)), most(family, head)


def _most_of_first(family: str, head: FirstPassages) -> float:
    """The most for a measure that looks at the first relevant passage alone: one more helps at
    most."""

    def lead(passages: list[Passage]) -> float:
        gains = [[BOUNDED[family](rank) for one in passages if (rank := one[n])] for n in (0, 1)]
        return max(gains[0], default=0) - max(gains[1], default=0)

    relevant = [one for one in head.passages if one[2] is not None and one[2] >= head.level]
    unlabelled = [[one] for one in head.passages if one[2] is None]
    return max(lead(relevant + more) for more in ([], *unlabelled))


def _most_of_all(family: str, head: FirstPassages) -> float:
    """The greatest quotient of the lead in gains and the ideal gain, by Dinkelbach (On nonlinear
    fractional programming, Management Science 1967): labels that make lead - t * ideal greatest
    give the next t, until it grows no more.

    A label adds its passage's gains once for each value from 1 up to it; of P and R the one value
    is the level. To n passages at or above a value the ideal ranking gives the first n gains,
    whichever passages they are (of R; of P it is k); so the best s to be there are those with the
    greatest lead in gains, and s is found for each value by itself. (The higher the value, the
    fewer are there already, the dearer is one more, the smaller the best s: those sets lie in each
    other.) For a t below 0 what is to be greatest is convex in the labels: each is 0 or the top.
    """

    def ahead(passage: Passage) -> float:
        first, second = (BOUNDED[family](rank) if rank else 0.0 for rank in passage[:2])
        return first - second

    values = range(1, head.top + 1) if family == "nDCG" else [head.level]
    unknown = sorted((ahead(one) for one in head.passages if one[2] is None), reverse=True)
    leads = list(accumulate(unknown, initial=0.0))  # of the best s
    at_least = [sum(label >= value for label in head.labels) for value in values]
    known = sum(
        ahead(one) * sum(one[2] >= value for value in values)
        for one in head.passages
        if one[2] is not None
    )

    sums = [0.0, *accumulate(map(BOUNDED[family], range(1, head.k + 1)))]

    def ideal(n: int) -> float:
        return {"P": head.k, "R": n}.get(family, sums[min(n, head.k)])

    def quotient(sizes: list[int]) -> float:
        gain = sum(ideal(n + s) for n, s in zip(at_least, sizes, strict=True))
        return (known + sum(leads[s] for s in sizes)) / gain if gain else 0.0

    def best(t: float, among: list[int]) -> int:
        def worth(s: int) -> float:
            return len(among) * leads[s] - t * sum(ideal(n + s) for n in among)

        return max(range(len(leads)), key=lambda s: (worth(s), s))

    t, better = -inf, quotient([0] * len(at_least))
    while better > t + 1e-12:
        t = better
        together = [at_least] * len(at_least) if t < 0 else [[n] for n in at_least]
        better = quotient([best(t, among) for among in together])
    return t
