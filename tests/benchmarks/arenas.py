"""How often intervals of ratings hold the truth, in arenas of systems of known strength.

Twenty systems write to fifty topics. On a topic each is better or worse than it is on average, and
a judge compares two of their answers: its verdict is a logistic function of their difference there,
moved towards the answer that stands first, and now and then it is thrown at random. Where the order
decides, the battle is a tie. The truth are the ratings of endless topics and all pairs. Battles are
drawn as int_drawn_battles draws them: neighbours in a circle.

    python -m tests.benchmarks.arenas [--arenas 500]
"""

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import expit

from gradelake.analyses.stats.battles import MEAN, SCALE, rate, strengths
from gradelake.analyses.stats.boards import Board

SYSTEMS, TOPICS, REPLICATES = 20, 50, 400
SPREAD, OF_TOPIC = 0.8, 0.6  # standard deviations of strengths, and of a system on a topic
FIRST, AT_RANDOM = 0.5, 0.1  # how far the first place moves a verdict; verdicts that mean nothing
DESIGNS = [(2, 2), (2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2)]  # opponents, orders
console = Console(highlight=False, width=110)


def chances(difference: np.ndarray) -> np.ndarray:
    """That a verdict is for the answer that stands first."""
    return AT_RANDOM / 2 + (1 - AT_RANDOM) * expit(difference + FIRST)


def values(generator: np.random.Generator, difference: np.ndarray, orders: int) -> np.ndarray:
    """What battles are worth to the one: 1, 0.5 or 0."""
    as_first = generator.random(difference.shape) < chances(difference)
    as_second = generator.random(difference.shape) >= chances(-difference)
    if orders == 1:
        return np.where(generator.random(difference.shape) < 0.5, as_first, as_second).astype(float)
    return (as_first.astype(float) + as_second) / 2


def truth(strong: np.ndarray) -> np.ndarray:
    """Ratings of endless topics on which all pairs meet."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(21)
    apart = strong[:, None, None] - strong[None, :, None] + np.sqrt(2) * OF_TOPIC * nodes
    won = ((chances(apart) + 1 - chances(-apart)) / 2) @ (weights / weights.sum())
    np.fill_diagonal(won, 0)
    return MEAN + SCALE * strengths(won * 1e6)


def arena(
    generator: np.random.Generator, strong: np.ndarray, opponents: int, orders: int
) -> np.ndarray:
    """(topics, systems, systems): who beat whom."""
    wins = np.zeros((TOPICS, SYSTEMS, SYSTEMS))
    for topic in range(TOPICS):
        there = strong + generator.normal(0, OF_TOPIC, SYSTEMS)
        circle = generator.permutation(SYSTEMS)
        for step in range(1, opponents // 2 + 1):
            others = np.roll(circle, -step)
            won = values(generator, there[circle] - there[others], orders)
            wins[topic, circle, others], wins[topic, others, circle] = won, 1 - won
    return wins


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--arenas", type=int, default=500)
    n = parser.parse_args().arenas
    heads = (
        "opponents",
        "orders",
        "battles",
        "verdicts",
        "intervals hold",
        "half a width",
        "error",
    )
    table = Table(*heads, "tau", box=None)
    for opponents, orders in DESIGNS:
        generator = np.random.default_rng(1)
        held, widths, errors, taus = [], [], [], []
        for number in range(n):
            strong = generator.normal(0, SPREAD, SYSTEMS)
            known = truth(strong)
            wins = arena(generator, strong, opponents, orders)
            names = tuple(f"{system:02}" for system in range(SYSTEMS))
            zeros = np.zeros((TOPICS, SYSTEMS))
            board = Board(
                "g/battles", 1, "WinRate", tuple(map(str, range(TOPICS))), names, zeros, zeros[0]
            )
            rated = rate(board, wins, n_replicates=REPLICATES, seed=number)
            for one in rated:
                real = known[int(one.system)]
                held.append(one.low <= real <= one.high)
                widths.append((one.high - one.low) / 2)
                errors.append((one.rating - real) ** 2)
            order = known[[int(one.system) for one in rated]]
            signs = np.sign(order[:, None] - order[None, :])[np.triu_indices(SYSTEMS, k=1)]
            taus.append(signs.mean())
        battles = TOPICS * SYSTEMS * opponents // 2
        shown = (
            f"{np.mean(held):.1%}",
            f"{np.mean(widths):.0f}",
            f"{np.sqrt(np.mean(errors)):.0f}",
        )
        counts = (opponents, orders, f"{battles:,}", f"{battles * orders:,}")
        table.add_row(*map(str, counts), *shown, f"{np.mean(taus):.3f}")
    console.print(table)


if __name__ == "__main__":
    main()
