"""Bootstrap and permutation replicates, in blocks: equal seeds, equal results on any machine."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

ELEMENTS = 1 << 18  # numbers of one array in a block: what stays in a core's cache


def in_blocks(
    work: Callable[[np.random.Generator, int], dict[Any, np.ndarray]],
    n_replicates: int,
    seed: int,
    elements_each: int,
    workers: int | None = None,
) -> dict[Any, np.ndarray]:
    """Run `work(generator, n)` until there are `n_replicates`; returns its arrays, joined.

    Each array's first axis is replicates. The blocks' sizes follow from `elements_each` (numbers
    held per replicate) alone and each has a generator of its own, so the number of threads
    (default: one per core) changes nothing in the result. NumPy lets other threads run meanwhile.
    """
    size = max(1, ELEMENTS // max(1, elements_each))
    sizes = [min(size, n_replicates - start) for start in range(0, n_replicates, size)]
    generators = [
        np.random.Generator(np.random.PCG64(sequence))
        for sequence in np.random.SeedSequence(seed).spawn(len(sizes))
    ]
    blocks = on_all_cores(work, generators, sizes, workers=workers)
    return {key: np.concatenate([block[key] for block in blocks]) for key in blocks[0]}


def on_all_cores(
    work: Callable[..., Any], *parts: Iterable[Any], workers: int | None = None
) -> list:
    """`map`, by a thread for each core."""
    # small matrices: threads of the linear algebra library would only wait for each other
    one_thread = _libraries().limit(limits=1, user_api="blas")
    with one_thread, ThreadPoolExecutor(workers or _cores()) as pool:
        return list(pool.map(work, *parts))


@cache
def _libraries() -> ThreadpoolController:
    """NumPy's among them. Finding them takes 3 ms, and a report resamples a hundred times."""
    return ThreadpoolController()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resampled(generator: np.random.Generator, n_replicates: int, n: int) -> np.ndarray:
    """How often each of `n` is drawn when `n` are drawn with replacement.

    Shape (n_replicates, n), whole numbers as float64. Efron and Tibshirani, An Introduction to the
    Bootstrap (1993), section 6.
    """
    return generator.multinomial(n, np.full(n, 1 / n), size=n_replicates).astype(np.float64)


def student_reach(n: Any, confidence: float = 0.95) -> Any:
    """How many standard errors Student's interval of a mean reaches to each side, of `n` values;
    an array of them gives an array."""
    from scipy.special import stdtrit

    return stdtrit(np.asarray(n) - 1, (1 + confidence) / 2)


UNDEFINED = "undefined"
ON_ONE = "it hangs on one query"
UNMOVED = "the same in every draw"
NO_WIDTH = 1e-12  # replicates closer than this are equal: what is left of rounding


@dataclass(frozen=True)
class Spread:
    """What a bootstrap says of one figure: an interval, None where it cannot be had, and how many
    replicates are `undefined` (NaN). The standard error is that of the replicates; `no_interval`
    says in words why there is none."""

    low: float | None
    high: float | None
    standard_error: float | None
    undefined: int
    no_interval: str | None = None

    @classmethod
    def of(cls, replicates: np.ndarray, confidence: float) -> "Spread":
        """The percentile interval (Efron and Tibshirani 1993, section 13.3)."""
        defined = replicates[~np.isnan(replicates)]
        low = high = error = None
        if defined.size:
            tail = (1 - confidence) / 2
            low, high = map(float, np.quantile(defined, [tail, 1 - tail]))
        if defined.size > 1:
            error = float(np.std(defined, ddof=1))
        return cls(low, high, error, replicates.size - defined.size)

    @classmethod
    def around(
        cls,
        point: float,
        replicates: np.ndarray,
        n_drawn: float,
        confidence: float,
        *,
        is_correlation: bool = False,
        n_effective: float | None = None,
    ) -> "Spread":
        """The interval around the point itself, whether or not resampling lowers the figure.

        Student's, with the bootstrap's standard error (Efron and Tibshirani 1993, section 12.5) and
        `n_drawn` - 1 degrees of freedom, of which the bootstrap's variance lacks one; or
        `n_effective` - 1, where what is drawn differs in size. That of a
        correlation is taken on the scale of its angle, arccos: of tau-b, (1 - tau) / 2 is a share
        of pairs, and twice the arcsine of its root, which stabilises a share's variance (Anscombe,
        The transformation of Poisson, binomial and negative-binomial data, Biometrika 1948), is
        that. Spearman's rho and tau-AP are no such shares: for them the angle only spreads out what
        is near 1, and keeps the interval within -1 and 1. No interval can be had from one query,
        nor where all replicates are equal (tau 1 in each).
        """
        spread = cls.of(replicates, confidence)
        n_alike = n_drawn if n_effective is None else n_effective
        defined = replicates[~np.isnan(replicates)]
        if np.isnan(point) or spread.standard_error is None:
            return spread.without(UNDEFINED)
        if n_alike <= 1:
            return spread.without(ON_ONE)
        if np.ptp(defined) < NO_WIDTH:
            return spread.without(UNMOVED)
        if is_correlation:
            defined, point = np.arccos(np.clip(defined, -1, 1)), np.arccos(np.clip(point, -1, 1))
        error = np.std(defined, ddof=1) * np.sqrt(n_drawn / (n_drawn - 1))
        reach = error * student_reach(n_alike, confidence)
        low, high = point - reach, point + reach
        if is_correlation:
            low, high = np.cos(min(high, np.pi)), np.cos(max(low, 0))
        return replace(spread, low=float(low), high=float(high))

    def without(self, reason: str) -> "Spread":
        """The same spread without an interval, and why it has none."""
        return replace(self, low=None, high=None, no_interval=reason)


def or_none(value: float | np.ndarray | None) -> float | None:
    """A number; None for one that is undefined (NaN)."""
    return None if value is None or np.isnan(value) else float(value)
