"""How queries count: their weights, and clusters of queries that are not independent."""

from dataclasses import dataclass

import numpy as np


def n_effective(sizes: np.ndarray) -> float:
    """How many units of one size tell as much of a variance: Satterthwaite (1946), for the squares
    of their sizes, as in Carter, Schnepel and Steigerwald, Asymptotic behavior of a t-test robust
    to cluster heterogeneity (Review of Economics and Statistics, 2017)."""
    squares = sizes**2
    return float(squares.sum() ** 2 / ((squares**2).sum() or 1))


@dataclass(frozen=True)
class Counting:
    """How some queries count: by weights, 1 on average, and by clusters; arrays of (queries,)."""

    weights: np.ndarray
    clusters: np.ndarray

    def of(self, rows: np.ndarray) -> "Counting":
        """How some of them count, as a mean over these alone has it."""
        weights = self.weights[rows]
        return Counting(weights / weights.mean(), self.clusters[rows])


@dataclass(frozen=True)
class Units:
    """What is drawn, flipped and shuffled as a whole: queries, or clusters of them.

    `totals`: (units, columns), sums of weighted values, rounded to whole numbers as values are, so
    that sums are exact; they may be off by `slack` where weights are fractions. `sizes`: (units,),
    sums of weights, of which the sum is the number of queries. So means are the sums of both, one
    divided by the other, as where all queries count alike.
    """

    totals: np.ndarray
    sizes: np.ndarray
    slack: float = 0.0

    @classmethod
    def of(cls, values: np.ndarray, counting: Counting | None) -> "Units":
        """`values`: (queries, columns); without a `counting` all count alike, each by itself."""
        if counting is None:
            return cls(values, np.ones(len(values)))
        names, unit = np.unique(counting.clusters, return_inverse=True)
        totals = np.zeros((len(names), values.shape[1]))
        np.add.at(totals, unit, np.rint(counting.weights[:, None] * values))
        return cls(totals, np.bincount(unit, weights=counting.weights), len(values))

    @property
    def n_effective(self) -> float:
        """The effective number of these queries, as the function `n_effective` has it."""
        return n_effective(self.sizes)

    @property
    def means(self) -> np.ndarray:
        """(columns,), over queries, by their weights."""
        return self.totals.sum(axis=0) / self.sizes.sum()

    @property
    def residuals(self) -> np.ndarray:
        """(units, columns): what each adds to the mean's distance from that of all queries."""
        return (self.totals - self.sizes[:, None] * self.means) / self.sizes.sum()

    @property
    def standard_errors(self) -> np.ndarray:
        """Linearised, over units: (columns,), as the leaderboard has it. NaN of one unit."""
        n = len(self.sizes)
        if n < 2:
            return np.full(self.totals.shape[1], np.nan)
        return np.sqrt(n / (n - 1) * (self.residuals**2).sum(axis=0))
