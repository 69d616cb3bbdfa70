"""At the top: does a label set tell people's first systems apart, and what does its choice cost?"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from gradelake.analyses.stats.boards import Board
from gradelake.analyses.stats.correlation import Drawn, Reference, means_of, settled
from gradelake.analyses.stats.resample import Spread, or_none, resampled
from gradelake.sql.common.rank_correlation import correlations, overlap, signs

STATISTICS = ("kendall", "tau_ap", "rbo")


@dataclass(frozen=True)
class Top:
    """One statistic over the systems that the reference ranks among its first k."""

    k: int
    n_systems: int
    statistic: str
    value: float | None
    spread: Spread


@dataclass(frozen=True)
class Choice:
    """What is lost by taking a label set's best system for people's.

    `systems` are several where they tie; `loss`, the mean of theirs, is None where the reference is
    official ranks, which have no scores. `in_best_group` says whether people's board shows none of
    them to be worse than its best; None where nobody asked.
    """

    systems: tuple[str, ...]
    loss: float | None
    spread: Spread
    in_best_group: bool | None


@dataclass(frozen=True)
class TopAgreement:
    """One label set's board at the top."""

    board: Board
    tops: list[Top]
    choice: Choice


def top_agreement(
    board: Board,
    reference: Reference,
    ks: Sequence[int],
    best_group: Collection[str] | None = None,
    *,
    n_replicates: int = 10_000,
    seed: int = 1,
    confidence: float = 0.95,
) -> TopAgreement:
    """A board against people's over the first k systems by people, as the mart `top_agreement` has
    them (systems that tie with the k-th are in, too), with intervals over queries.

    Queries are drawn as `agreement` draws them, of boards that are `settled`; each replicate has
    its own first k systems, best systems and loss, but official ranks stay as they are. As there,
    the intervals lie around the point, and are for the mean of what boards of as many queries have:
    the loss has people's luck in it as well as the judge's. Compared with official ranks they are
    for these very ranks. tests/benchmarks/README.md has how often they hold it. `best_group` are
    the systems that people's board does not show to be worse than its best
    (`rank_uncertainty(...).top`).

    Raises `BadInput` when fewer than two systems are in both.
    """
    drawn_from = Drawn.of([board], reference)
    official, (ours,) = drawn_from.official, drawn_from.boards
    means = [means_of(one) for one in settled([*map(drawn_from.in_units, drawn_from.every)])]

    def replicates(generator: np.random.Generator, n: int) -> dict:
        times = resampled(generator, n, drawn_from.n_units)
        mine, *other = (mean(times) for mean in means)
        return _figures(mine, other[0] if other else official, ks, has_scores=bool(other))

    drawn = drawn_from.replicates(replicates, n_replicates, seed)
    found = _figures(ours.printed, official, ks, has_scores=drawn_from.reference is not None)
    places = 1 + (official[None, :] > official[:, None]).sum(axis=1)
    n_drawn = drawn_from.n_effective
    tops = []
    for k, statistic in product(ks, STATISTICS):
        value = float(found[k, statistic])
        spread = Spread.around(value, drawn[k, statistic], n_drawn, confidence, is_correlation=True)
        if statistic == "rbo" and spread.low is not None:
            spread = replace(spread, low=max(spread.low, 0))
        tops.append(Top(k, int((places <= k).sum()), statistic, or_none(value), spread))
    loss = float(found["loss"])
    spread = Spread.around(loss, drawn["loss"], n_drawn, confidence)
    if spread.low is not None and spread.high is not None:
        # a loss that is most often nothing is skewed: as far as replicates go, too
        low, high = np.nanquantile(drawn["loss"], [(1 - confidence) / 2, (1 + confidence) / 2])
        low, high = max(min(spread.low, low), 0), max(spread.high, high)
        spread = replace(spread, low=float(low), high=float(high))
    best = tuple(np.array(drawn_from.systems)[ours.printed == ours.printed.max()].tolist())
    in_group = None if best_group is None else set(best) <= set(best_group)
    return TopAgreement(board, tops, Choice(best, or_none(loss), spread, in_group))


def _figures(
    ours: np.ndarray, theirs: np.ndarray, ks: Sequence[int], has_scores: bool
) -> dict[Any, np.ndarray]:
    """Each statistic by k, and the loss, of scores in units of 0.0001, (..., systems); the loss is
    NaN where the reference has no scores."""
    predicted, official = signs(ours), signs(theirs)
    ranks = 1 + (official < 0).sum(axis=-1)
    found: dict[Any, np.ndarray] = {}
    for k in ks:
        among = (ranks <= k).astype(np.float64)
        of_top = correlations(predicted, official, among)
        of_top["rbo"] = np.where(
            np.isnan(of_top["kendall"]), np.nan, overlap(predicted, official, among)
        )
        found |= {(k, name): of_top[name] for name in STATISTICS}
    best = ours == ours.max(axis=-1, keepdims=True)
    lost = theirs.max(axis=-1, keepdims=True) - theirs
    loss = (best * lost).sum(axis=-1) / best.sum(axis=-1) / 1e4
    found["loss"] = loss if has_scores else np.full_like(loss, np.nan)
    return found
