"""How often 95 % intervals of Kendall's tau hold what they are for, in simulated collections.

Systems have a mean by people's labels and one by a judge's; on the boards of endless topics and
systems these have a given tau. Each topic adds noise, part of which both share. An interval is for
the mean tau of boards of as many topics (and as many systems like these, where systems are drawn).
The reference is the board of people's labels on the same topics, or, as official ranks are, that
board's ranks alone.

    python -m tests.benchmarks.intervals [--collections 300]
"""

import argparse
from collections import Counter
from collections.abc import Iterator

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import norm, rankdata

from gradelake.analyses.stats.boards import UNIT, Board, OfficialRanks
from gradelake.analyses.stats.correlation import agreement
from gradelake.analyses.stats.rank_correlation import correlations, signs
from gradelake.analyses.stats.resample import resampled

SYSTEMS, REPLICATES, MANY = 35, 400, 1500
BETWEEN, WITHIN = 0.08, 0.15  # standard deviations: of systems' means, of a system's topics
WORLDS = [(0.5, 0.7), (0.9, 0.9), (0.98, 0.95), (1.0, 0.98), (1.0, 0.999)]  # endless tau, shared
DESIGNS = [  # what is drawn, the reference, topics
    *(("queries", "board", 25), ("queries", "board", 50), ("queries", "ranks", 25)),
    *(("queries", "ranks", 50), ("systems", "board", 50), ("both", "board", 50)),
]
METHODS = ("percentile", "BCa", "Fisher's z", "angle")
console = Console(highlight=False, width=125)


def tau(ours: np.ndarray, theirs: np.ndarray, times: np.ndarray | None = None) -> np.ndarray:
    """Tau-b of two (boards, systems), each system counted `times`."""
    return correlations(signs(ours), signs(theirs), times)["kendall"]


class World:
    """Collections of so many topics, and a judge who agrees with people so well."""

    def __init__(self, endless: float, shared: float, topics: int, draws_systems: bool, seed: int):
        self.generator = np.random.default_rng(seed)
        self.alike = np.sin(np.pi / 2 * endless)  # Pearson's correlation, of normal means
        self.shared, self.topics = shared, topics
        self.means = None if draws_systems else self._pair(self.alike, BETWEEN, SYSTEMS)

    def _pair(self, alike: float, deviation: float, *shape: int) -> np.ndarray:
        people, other = self.generator.normal(0, deviation, (2, *shape))
        return np.array([people, alike * people + np.sqrt(1 - alike**2) * other])

    def draw(self) -> np.ndarray:
        """Values by people's labels, then by the judge's: (2, topics, systems)."""
        means = self._pair(self.alike, BETWEEN, SYSTEMS) if self.means is None else self.means
        return 0.5 + means[:, None] + self._pair(self.shared, WITHIN, self.topics, SYSTEMS)

    def mean_tau(self) -> float:
        """Of the boards of so many topics."""
        boards = np.array([self.draw().mean(axis=1) for _ in range(MANY)])
        return float(tau(boards[:, 1], boards[:, 0]).mean())


def board(values: np.ndarray, name: str) -> Board:
    topics, systems = (tuple(map(str, range(size))) for size in values.shape)
    printed = np.rint(values.mean(axis=0) * 1e4)
    return Board(name, 1, "AP", topics, systems, np.rint(values * UNIT), printed)


def others(point: float, drawn: np.ndarray, left_out: np.ndarray) -> Iterator[tuple[float, float]]:
    """The intervals that Gradelake does not take: percentile, BCa (Efron 1987), normal on z.

    `left_out`: tau without each query or system, for BCa's acceleration.
    """
    tails = np.array([0.025, 0.975])
    yield tuple(np.quantile(drawn, tails))
    below = (drawn < point - 1e-9).mean() + (abs(drawn - point) <= 1e-9).mean() / 2
    pulls = left_out.mean() - left_out
    pull = (pulls**3).sum() / (6 * (pulls**2).sum() ** 1.5) if pulls.any() else 0
    bias = norm.ppf(np.clip(below, 1 / len(drawn), 1 - 1 / len(drawn)))  # else it is infinite
    ends = bias + norm.ppf(tails)
    yield tuple(np.quantile(drawn, norm.cdf(bias + ends / (1 - pull * ends))))
    most = 1 - 2 / (SYSTEMS * (SYSTEMS - 1))  # half a pair the other way round, where tau is 1
    z, error = np.arctanh(min(point, most)), np.arctanh(np.minimum(drawn, most)).std(ddof=1)
    low, high = np.tanh(z + norm.ppf(tails) * error)
    yield min(low, point), max(high, point)


def intervals(world: World, drawn: str, reference: str) -> tuple[float, list[tuple]]:
    """(tau, an interval by each of METHODS) of one collection."""
    people, judge = world.draw()
    ours, theirs = board(judge, "judge:x"), board(people, "assessor:y")
    ranks = dict(zip(theirs.systems, rankdata(-theirs.printed), strict=True))
    official = OfficialRanks("official", ranks)
    found = agreement(
        ours, official if reference == "ranks" else theirs, n_replicates=REPLICATES
    ).correlations
    (kendall,) = (one for one in found if one.statistic == "kendall")
    spread = kendall.spread[drawn]
    n = world.topics if drawn != "systems" else 0, SYSTEMS if drawn != "queries" else 0
    times = [np.ones((REPLICATES + sum(n), size)) for size in (world.topics, SYSTEMS)]
    for which, start in ((0, REPLICATES), (1, REPLICATES + n[0])):
        if n[which]:
            times[which][:REPLICATES] = resampled(world.generator, REPLICATES, n[which])
            times[which][start : start + n[which]] -= np.eye(n[which])
    boards = [times[0] @ values for values in (judge, people)]
    if reference == "ranks":
        boards[1][:] = theirs.printed
    taus = tau(*boards, times[1])
    rest = others(kendall.value, taus[:REPLICATES], taus[REPLICATES:])
    return kendall.value, [*rest, (spread.low, spread.high)]


def main() -> None:
    """Simulate, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--collections", type=int, default=300)
    n = parser.parse_known_args()[0].collections
    table = Table(title=f"Of {n} collections, whose interval holds the mean tau (its own tau)")
    for head in ("drawn", "reference", "topics", "endless tau", "mean tau", *METHODS):
        table.add_column(head, justify="left" if head in ("drawn", "reference") else "right")
    for drawn, reference, topics in DESIGNS:
        for seed, (endless, shared) in enumerate(WORLDS):
            world = World(endless, shared, topics, drawn != "queries", seed)
            mean = world.mean_tau()
            holds: Counter = Counter()
            for _ in range(n):
                own, found = intervals(world, drawn, reference)
                for method, (low, high) in zip(METHODS, found, strict=True):
                    holds[method, "mean"] += low - 1e-9 <= mean <= high + 1e-9
                    holds[method, "own"] += low - 1e-9 <= own <= high + 1e-9
            shares = (f"{holds[m, 'mean'] / n:.0%} ({holds[m, 'own'] / n:.0%})" for m in METHODS)
            table.add_row(drawn, reference, str(topics), str(endless), f"{mean:.3f}", *shares)
    console.print(table)


if __name__ == "__main__":
    main()
