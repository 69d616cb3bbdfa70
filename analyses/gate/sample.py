"""What a sample of differences says of the mean of all: p and bounds, for the gate."""

from dataclasses import dataclass, replace

import numpy as np

from gradelake.analyses.stats.boards import UNIT
from gradelake.analyses.stats.counting import Counting, Units
from gradelake.analyses.stats.resample import student_reach


@dataclass(frozen=True)
class Difference:
    """What the differences of a sample of queries say of the mean difference mu of all queries of
    their kind, and of a tolerance. All of it is in points of the measure.

    Of the sample: its number, mean, standard deviation (n - 1) and skewness (the third central
    moment over that of the second, to 3/2). `low` and `high` are the one-sided bounds of mu at
    1 - alpha each, together an interval at 1 - 2 alpha. `p_passed` is of mu <= -tolerance, `p_fell`
    of mu >= -tolerance.
    """

    n: float
    mean: float
    spread: float
    skewness: float
    low: float = 0.0
    high: float = 0.0
    p_passed: float = 0.0
    p_fell: float = 1.0

    @classmethod
    def of(
        cls,
        differences: np.ndarray,
        tolerance: float,
        alpha: float,
        is_same: bool = False,
        counting: Counting | None = None,
    ) -> "Difference":
        """Of two queries or more; `differences`: (queries,), in units of 1e-10.

        Of queries that do not count alike: as many equal ones as tell as much
        (`Units.n_effective`), with a spread that gives the mean its linearised standard error, and
        a skewness that gives it the third moment of what the units add to it.
        """
        units, n_queries = Units.of(differences[:, None], counting), len(differences)
        mean, spread, skewness, n = units.means[0], 0.0, 0.0, units.n_effective
        if not np.ptp(differences):
            mean = differences[0]
        elif spread := units.standard_errors[0] * np.sqrt(n):
            residuals = units.residuals[:, 0]
            skewness = (residuals**3).sum() / (residuals**2).sum() ** 1.5 * np.sqrt(n)
        found = cls(n, *map(float, (mean / UNIT, spread / UNIT, skewness)))
        if is_same and not differences.any():  # so it is on every query: an interval of one point
            return found
        # whole numbers: what is lower by just the tolerance has 0 here
        above = units.totals.sum() + n_queries * np.rint(tolerance * UNIT)
        p_passed, p_fell = found.p_values(float(above / (n_queries * UNIT)))
        low, high = found.bounds(alpha)
        return replace(found, low=low, high=high, p_passed=p_passed, p_fell=p_fell)

    def p_values(self, above: float) -> tuple[float, float]:
        """p of (mu <= a bound, mu >= it); `above` is how far the mean lies above the bound.

        The greater of two, that of Student's t and that of Hall's transformation of it,

            sqrt(n) * (w + g w^2 / 3 + g^2 w^3 / 27 + g / (6 n)), with w = t / sqrt(n)

        and g the skewness (Hall, On the removal of skewness by transformation, Journal of the Royal
        Statistical Society B 54, 1992): a few queries may make up for many.

        Where all differences are equal: (1 - q)^n, the probability that n queries miss a share q of
        all, where q is what would bring the mean to the bound if it were at the far end of the
        scale (1 or -1).
        """
        from scipy.special import stdtr

        if self.spread == 0:
            return (
                (1 - above / (1 + self.mean)) ** self.n if above > 0 else 1.0,
                (1 + above / (1 - self.mean)) ** self.n if above < 0 else 1.0,
            )
        w, g, root = above / self.spread, self.skewness, np.sqrt(self.n)
        hall = root * (w + g * w**2 / 3 + g**2 * w**3 / 27) + g / (6 * root)
        both = root * w, hall
        return float(stdtr(self.n - 1, -min(both))), float(stdtr(self.n - 1, max(both)))

    def bounds(self, alpha: float) -> tuple[float, float]:
        """(lower, upper) one-sided bounds of mu at 1 - alpha each: where a p is just alpha."""
        if self.spread == 0:
            missed = 1 - alpha ** (1 / self.n)
            return self.mean - missed * (1 + self.mean), self.mean + missed * (1 - self.mean)
        g, root = self.skewness, np.sqrt(self.n)
        reach = float(student_reach(self.n, 1 - 2 * alpha)) / root
        ends = [-reach, reach]
        for end in (-reach, reach):
            y = end - g / (6 * self.n)
            ends.append(float(3 * (np.cbrt(1 + g * y) - 1) / g) if abs(g) > 1e-6 else y)
        return self.mean - self.spread * max(ends), self.mean - self.spread * min(ends)
