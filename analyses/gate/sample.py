"""What a sample of differences says of the mean of all: p and bounds, for the gate."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from gradelake.analyses.stats.boards import UNIT
from gradelake.analyses.stats.counting import Counting, Units, n_effective
from gradelake.analyses.stats.resample import student_reach
from gradelake.analyses.stats.significance import ALIKE

TYPICAL, ANY, FIXED = "typical", "any", "fixed"
MOVED = 0.1  # points from the mean: a query as far away as this has moved
FEW = 2.5  # queries that moved, partly or wholly: fewer do not show how far queries go


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What the differences of some queries say of the mean difference mu of all queries of their
    kind, and of a tolerance. All of it is in points of the measure.

    Of the sample: its effective number of queries, mean and standard deviation (n - 1), and the
    weight of the heaviest query or cluster. `p_passed` is of mu <= -tolerance, `p_fell` of
    mu >= -tolerance. `few`: too few queries moved to believe a p.

    This class is for what no sample is drawn of: fixed queries, or systems that rank the same; and
    for samples that say nothing. What others say depends on how differences may be distributed.
    """

    n: float
    mean: float
    alpha: float
    greatest_share: float
    spread: float = 0.0
    p_passed: float = 1.0
    p_fell: float = 1.0
    few: bool = False

    @staticmethod
    def of(
        differences: np.ndarray,
        tolerance: float,
        alpha: float,
        is_same: bool = False,
        counting: Counting | None = None,
        sure: str = TYPICAL,
    ) -> "Difference":
        """`differences`: (queries,), in units of 1e-10. `is_same`: both rank the same passages in
        the same order. `sure`: `TYPICAL`, `ANY`, or `FIXED` for these queries and no others.

        Of queries that do not count alike: as many equal ones as tell as much
        (`Units.n_effective`), with a spread that gives the mean its linearised standard error.
        """
        units, n_queries = Units.of(differences[:, None], counting), len(differences)
        # whole numbers: what is lower by just the tolerance has 0 here
        all_above = float(units.totals.sum() + n_queries * np.rint(tolerance * UNIT))
        above = all_above / (n_queries * UNIT)
        n, mean = units.n_effective, units.means[0] / UNIT
        share = float(units.sizes.max() / units.sizes.sum())
        known = Difference(n=n, mean=float(mean), alpha=alpha, greatest_share=share)
        if sure == FIXED:
            # by weights that are fractions, but for rounding; what did not go down did not fall
            fell = all_above <= units.slack and units.totals.sum() < -units.slack
            return replace(known, p_passed=float(fell), p_fell=float(not fell))
        if is_same and not differences.any():  # so it is on every query
            return replace(known, p_passed=0.0)
        if n < ALIKE:
            return known
        kind = AnyDifference if sure == ANY else TypicalDifference
        found = kind.of_units(units, known)
        p_passed, p_fell = found.p_values(above)
        few = min(found.p_believed(above)) <= alpha < min(p_passed, p_fell)
        return replace(found, p_passed=p_passed, p_fell=p_fell, few=few)

    @property
    def is_one(self) -> bool:
        """Whether one query, or one cluster, has most of the weight."""
        return self.n < ALIKE

    def p_values(self, above: float) -> tuple[float, float]:
        """p of (mu <= a bound, mu >= it); `above` is how far the mean lies above the bound."""
        raise NotImplementedError

    def p_believed(self, above: float) -> tuple[float, float]:
        """The p-values for whoever believes that the sample shows how much queries move."""
        return self.p_values(above)

    @cached_property
    def bounds(self) -> tuple[float, float] | None:
        """(lower, upper) one-sided bounds of mu at 1 - alpha each: where a p is just alpha.

        Together they are an interval at 1 - 2 alpha.
        """
        return None

    @property
    def unseen(self) -> float:
        """The largest share of all queries of which n have none with a probability of alpha."""
        return float(1 - self.alpha ** (1 / self.n))

    def of_size(self, n: float, mean: float | None = None) -> Self:
        """A sample of so many queries, spread like these, perhaps around another mean."""
        return replace(self, n=n, mean=self.mean if mean is None else mean)


@dataclass(frozen=True, kw_only=True)
class TypicalDifference(Difference):
    """A difference like that of most measures and systems: the sample shows how it is spread, where
    enough queries moved.

    `skewness` is the third central moment over that of the second, to 3/2; of unequal units it
    gives the mean the third moment of what they add to it. `n_below`, `n_above`: how many queries
    moved to each side of the mean; one that is nearer than `MOVED` counts by how far it is.
    """

    skewness: float
    n_below: float
    n_above: float

    @classmethod
    def of_units(cls, units: Units, known: Difference) -> "TypicalDifference":
        residuals, skewness = units.residuals[:, 0], 0.0
        spread = units.standard_errors[0] * np.sqrt(known.n)
        if spread:
            skewness = (residuals**3).sum() / (residuals**2).sum() ** 1.5 * np.sqrt(known.n)
        # a unit counts as one at most, however large
        moved = residuals * units.sizes.sum() / np.maximum(units.sizes, units.sizes.mean())
        moved = np.clip(moved / (MOVED * UNIT), -1, 1)
        return cls(
            **vars(replace(known, spread=float(spread / UNIT))),
            skewness=float(skewness),
            n_below=float(-moved[moved < 0].sum()),
            n_above=float(moved[moved > 0].sum()),
        )

    def of_size(self, n: float, mean: float | None = None) -> Self:
        more, sized = n / self.n, super().of_size(n, mean)
        return replace(sized, n_below=self.n_below * more, n_above=self.n_above * more)

    def p_believed(self, above: float) -> tuple[float, float]:
        """The greater of two: that of Student's t, and that of Hall's transformation of it.

            sqrt(n) * (w + g w^2 / 3 + g^2 w^3 / 27 + g / (6 n)), with w = t / sqrt(n)

        and g the skewness (Hall, On the removal of skewness by transformation, Journal of the Royal
        Statistical Society B 54, 1992): a few queries may make up for many.
        """
        from scipy.special import stdtr

        if not self.spread:
            return float(above <= 0), float(above >= 0)
        w, g, root = above / self.spread, self.skewness, np.sqrt(self.n)
        hall = root * (w + g * w**2 / 3 + g**2 * w**3 / 27) + g / (6 * root)
        both = root * w, hall
        return float(stdtr(self.n - 1, -min(both))), float(stdtr(self.n - 1, max(both)))

    def p_values(self, above: float) -> tuple[float, float]:
        """The p-values of `p_believed`. Where fewer than `FEW` queries moved to the side that
        speaks against a verdict, the sample does not show how far queries go there: then no less
        than (1 - q)^n, the probability that n queries miss a share q of all, where q is what would
        bring the mean to the bound if it were at the far end of the scale (-1 or 1).
        """
        passed, fell = self.p_believed(above)
        if self.n_below < FEW and above > 0:
            passed = max(passed, max(0, 1 - above / (1 + self.mean)) ** self.n)
        if self.n_above < FEW and above < 0:
            fell = max(fell, max(0, 1 + above / (1 - self.mean)) ** self.n)
        return passed, fell

    @cached_property
    def bounds(self) -> tuple[float, float]:
        g, root = self.skewness, np.sqrt(self.n)
        reach = float(student_reach(self.n, 1 - 2 * self.alpha)) / root
        ends = [-reach, reach]
        for end in (-reach, reach):
            y = end - g / (6 * self.n)
            ends.append(float(3 * (np.cbrt(1 + g * y) - 1) / g) if abs(g) > 1e-6 else y)
        low, high = self.mean - self.spread * max(ends), self.mean - self.spread * min(ends)
        if self.n_below < FEW:
            low = min(low, self.mean - self.unseen * (1 + self.mean))
        if self.n_above < FEW:
            high = max(high, self.mean + self.unseen * (1 - self.mean))
        return low, high


@dataclass(frozen=True, kw_only=True)
class AnyDifference(Difference):
    """However differences are distributed between -1 and 1: by bets.

    Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting (Journal of the
    Royal Statistical Society B 86, 2024). Who bets a share k of a capital of 1 on mu > b has, after
    a query with difference d,

        1 + k (d - b) / (1 + b)

    times as much, and never less than nothing. If mu <= b, no bets make more of it on average; so
    it reaches 1 / alpha with a probability of alpha at most. The capital is spread over several
    shares, each of which stays the same from the first query to the last: so their order says
    nothing. `residuals`: of each query or cluster, its difference less the mean. `sizes`: its
    weight, 1 that of the heaviest, which stakes k; others stake as much less as they weigh less.
    Weights are taken as given: what holds then holds for queries of weights like these.
    """

    residuals: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of_units(cls, units: Units, known: Difference) -> "AnyDifference":
        residuals = units.totals[:, 0] / units.sizes / UNIT - known.mean
        spread = units.standard_errors[0] * np.sqrt(known.n) / UNIT
        sizes = units.sizes / units.sizes.max()
        return cls(**vars(replace(known, spread=float(spread))), residuals=residuals, sizes=sizes)

    def p_values(self, above: float) -> tuple[float, float]:
        return self._p(above, 1), self._p(-above, -1)

    def _p(self, above: float, side: int) -> float:
        """p of a mean that lies above the bound by no more than chance; -1: with the scale turned
        round."""
        to_end = max(1 + side * self.mean - above, 1e-12)
        gains = self.sizes * (side * self.residuals + above) / to_end
        # the stakes that suit a spread of 0.5 and less: of n queries, 5 / sqrt(n) and more
        halvings = max(1, int(np.ceil(np.log2(np.sqrt(self.n) / 5))))
        stakes = 0.5 ** np.arange(halvings + 1)
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(1 + stakes[:, None] * gains, 0)).sum(axis=1)
        logs *= self.n / n_effective(self.sizes)
        most = logs.max()
        if most <= 0:  # nobody has won anything
            return 1.0
        return float(min(1, np.exp(-most) / np.exp(logs - most).mean()))

    @cached_property
    def bounds(self) -> tuple[float, float]:
        return self.mean - self._reach(1), self.mean + self._reach(-1)

    def _reach(self, side: int) -> float:
        """How far the mean must lie above a bound for its p to be alpha: found by halving."""
        near, far = 0.0, 1 + side * self.mean
        for _ in range(40):
            middle = (near + far) / 2
            near, far = (near, middle) if self._p(middle, side) <= self.alpha else (middle, far)
        return far
