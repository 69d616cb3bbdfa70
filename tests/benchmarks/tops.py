"""How often 95 % intervals of the first systems, the loss and decision errors hold what they are
for, in simulated collections.

Scores are P@10: of ten passages so many are relevant, more on easy topics and by good systems, many
of which are nearly the best, a few far worse. A judge favours some systems, and sees part of what
people see on a topic. Official ranks are those of other topics. An interval is for the mean over
boards of as many topics, which that over all collections stands for. Some shares have none.

    python -m tests.benchmarks.tops [--collections 300] [--losses]
"""

import argparse
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import expit
from scipy.stats import rankdata

from gradelake.analyses.stats.boards import UNIT, Board, OfficialRanks
from gradelake.analyses.stats.decisions import decision_errors
from gradelake.analyses.stats.resample import Spread
from gradelake.analyses.stats.significance import compare_pairs
from gradelake.analyses.stats.top import top_agreement

SYSTEMS, REPLICATES, PERMUTATIONS = 14, 300, 1999
# skills of systems; the judge's favours, what it sees as people do
LOSSES = {
    "5 alike": ([0] * 5, 0.1, 0.8),
    "20 alike": ([0] * 20, 0.3, 0.5),
    "one far ahead": ([0, -0.4, -0.4, -0.4], 0, 0.9),
    "each a little worse than the last": ([0, -0.3, -0.6, -0.9, -1.2, -1.5], 0.4, 0.9),
    "two near the best": ([0, -0.1, -1, -1, -1], 0, 0.5),
}
TOPICS = (10, 25, 50, 100)
WORLDS = [  # the judge's favours (standard deviation, as skills), what it sees as people do; topics
    *((0.1, 0.9, 25), (0.1, 0.9, 50)),
    *((0.4, 0.6, 25), (0.4, 0.6, 50)),
]
CORRECTIONS = ("p", "p_holm", "p_tukey")
console = Console(highlight=False, width=125)


class World:
    """Collections of so many topics, and a judge; without `skills`, many systems are good and a few
    far worse."""

    def __init__(
        self,
        favours: float,
        shared: float,
        topics: int,
        seed: int,
        skills: Sequence[float] | None = None,
    ):
        self.generator = np.random.default_rng(seed)
        self.shared, self.topics = shared, topics
        self.skills = -self.generator.gamma(1.2, 0.5, SYSTEMS)
        if skills is not None:
            self.skills = np.array(skills, dtype=float)
        self.judged = self.skills + self.generator.normal(0, favours, len(self.skills))
        earlier = self.draw()[1]
        ranks = dict(zip(earlier.systems, rankdata(-earlier.printed), strict=True))
        self.official = OfficialRanks("of other topics", ranks)

    def draw(self) -> tuple[Board, Board]:
        """The judge's board, and people's."""
        shape = self.topics, len(self.skills)
        ease, seen, other, blur = (
            self.generator.normal(0, deviation, size)
            for deviation, size in ((1, (self.topics, 1)), (0.7, shape), (0.7, shape), (0.5, 1))
        )
        alike = self.shared * seen + np.sqrt(1 - self.shared**2) * other
        found = []
        for name, latent in (
            ("judge:x", ease + self.judged + alike + blur),
            ("assessor:y", ease + self.skills + seen),
        ):
            values = self.generator.binomial(10, expit(latent)) / 10
            printed = np.floor(values.mean(axis=0) * 1e4 + 0.5)
            names = (tuple(map(str, range(size))) for size in shape)
            found.append(Board(name, 1, "P@10", *names, np.rint(values * UNIT), printed))
        return found[0], found[1]


def figures(world: World) -> dict[str, tuple]:
    """figure -> (value, the lower end of its interval, the upper one), of one collection."""
    ours, theirs = world.draw()
    found: dict[str, tuple[float | None, Spread]] = {}
    for name, reference in (("", theirs), (" (official ranks)", world.official)):
        top = top_agreement(ours, reference, (5, 10), n_replicates=REPLICATES)
        for one in top.tops:
            found[f"{one.statistic}, first {one.k}{name}"] = one.value, one.spread
        if not name:
            found["loss"] = top.choice.loss, top.choice.spread
    pairs, people = (compare_pairs(board, PERMUTATIONS) for board in (ours, theirs))
    for each in decision_errors(pairs, people, 0.05, n_replicates=REPLICATES):
        if each.correction in CORRECTIONS:
            found[f"{each.error}, {each.correction}"] = each.share, each.spread
    return {name: (value, spread.low, spread.high) for name, (value, spread) in found.items()}


def loss_held(world: World, n: int) -> tuple[float, float, float]:
    """The mean loss; which share of the intervals hold it; which share of collections have one."""
    choices = [top_agreement(*world.draw(), (3,), n_replicates=REPLICATES).choice for _ in range(n)]
    mean = np.mean([one.loss for one in choices])
    given = [one.spread for one in choices if one.spread.low is not None]
    held = np.mean([one.low - 1e-9 <= mean <= one.high + 1e-9 for one in given])
    return float(mean), float(held), len(given) / n


def losses(n: int) -> Table:
    """Of worlds in which the loss is often nothing."""
    table = Table("systems", *(f"{topics} topics" for topics in TOPICS))
    table.title = f"Mean loss, and how many of the intervals of {n} collections hold it"
    for name, (skills, *about) in LOSSES.items():
        found = [loss_held(World(*about, topics, 7, skills), n) for topics in TOPICS]
        cells = (f"{mean:.3f} {held:.1%} of {given:.0%}" for mean, held, given in found)
        table.add_row(name, *cells)
    return table


def main() -> None:
    """Simulate, and print two tables; `--losses` the second alone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--collections", type=int, default=300)
    parser.add_argument("--losses", action="store_true")
    asked = parser.parse_known_args()[0]
    if not asked.losses:
        console.print(tops(asked.collections))
    console.print(losses(asked.collections))


def tops(n: int) -> Table:
    """All figures."""
    columns = []
    for seed, about in enumerate(WORLDS):
        world = World(*about, seed)
        all_of = [figures(world) for _ in range(n)]
        held = {}
        for name in all_of[0]:
            value, low, high = np.array([of[name] for of in all_of], dtype=float).T
            mean, given = value[~np.isnan(value)].mean(), ~np.isnan(low)
            if given.mean() > 0.1:
                share = ((low - 1e-9 <= mean) & (mean <= high + 1e-9))[given].mean()
                some = "" if given.all() else f" of {given.mean():.0%}"
                held[name] = f"{mean:.3f} {share:.1%}{some}"
        columns.append(held)
    table = Table(title=f"Mean, and how many of the intervals of {n} collections hold it")
    table.add_column("figure")
    for favours, shared, topics in WORLDS:
        table.add_column(f"{favours}, {shared}, {topics} topics", justify="right")
    for name in columns[0]:
        table.add_row(name, *(held.get(name, "") for held in columns))
    return table


if __name__ == "__main__":
    main()
