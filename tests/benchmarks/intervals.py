"""How often 95 % intervals of Kendall's tau hold what they are for, in simulated collections.

Systems have a mean by people's labels and one by a judge's; on the boards of endless topics and
systems these have a given tau. Each topic adds noise, part of which both share. An interval is for
the mean tau of boards of as many topics (and as many systems like these, where systems are drawn).
The reference is the board of people's labels on the same topics, or, as official ranks are, that
board's ranks alone.

    python -m tests.benchmarks.intervals [--collections 300]
"""

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import rankdata

from gradelake.analyses.stats.boards import UNIT, Board, OfficialRanks
from gradelake.analyses.stats.correlation import agreement
from gradelake.sql.common.rank_correlation import correlations, signs

SYSTEMS, REPLICATES, MANY = 35, 400, 1500
BETWEEN, WITHIN = 0.08, 0.15  # standard deviations: of systems' means, of a system's topics
WORLDS = [(0.5, 0.7), (0.9, 0.9), (0.98, 0.95), (1.0, 0.98), (1.0, 0.999)]  # endless tau, shared
DESIGNS = [  # what is drawn, the reference, topics
    *(("queries", "board", 25), ("queries", "board", 50), ("queries", "ranks", 25)),
    *(("queries", "ranks", 50), ("systems", "board", 50), ("both", "board", 50)),
]
console = Console(highlight=False, width=125)


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
        return float(correlations(signs(boards[:, 1]), signs(boards[:, 0]), None)["kendall"].mean())


def board(values: np.ndarray, name: str) -> Board:
    topics, systems = (tuple(map(str, range(size))) for size in values.shape)
    printed = np.rint(values.mean(axis=0) * 1e4)
    return Board(name, 1, "AP", topics, systems, np.rint(values * UNIT), printed)


def interval(world: World, drawn: str, reference: str) -> tuple[float, float, float]:
    """(tau, the lower end of its interval, the upper one) of one collection."""
    people, judge = world.draw()
    ours, theirs = board(judge, "judge:x"), board(people, "assessor:y")
    ranks = dict(zip(theirs.systems, rankdata(-theirs.printed), strict=True))
    official = OfficialRanks("official", ranks)
    found = agreement(
        ours, official if reference == "ranks" else theirs, n_replicates=REPLICATES
    ).correlations
    (kendall,) = (one for one in found if one.statistic == "kendall")
    spread = kendall.spread[drawn]
    return kendall.value, spread.low, spread.high


def main() -> None:
    """Simulate, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--collections", type=int, default=300)
    n = parser.parse_known_args()[0].collections
    table = Table(title=f"Of {n} collections, whose interval holds the mean tau (its own tau)")
    for head in ("drawn", "reference", "topics", "endless tau", "mean tau", "interval"):
        table.add_column(head, justify="left" if head in ("drawn", "reference") else "right")
    for drawn, reference, topics in DESIGNS:
        for seed, (endless, shared) in enumerate(WORLDS):
            world = World(endless, shared, topics, drawn != "queries", seed)
            mean = world.mean_tau()
            found = np.array([interval(world, drawn, reference) for _ in range(n)], dtype=float)
            own, low, high = found[~np.isnan(found).any(axis=1)].T  # of those that are given
            held = [np.mean((low - 1e-9 <= t) & (t <= high + 1e-9)) for t in (mean, own)]
            about = (drawn, reference, str(topics), str(endless), f"{mean:.3f}")
            table.add_row(*about, f"{held[0]:.0%} ({held[1]:.0%})")
    console.print(table)


if __name__ == "__main__":
    main()
