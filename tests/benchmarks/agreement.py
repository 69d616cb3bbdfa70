"""How often intervals of agreement hold the truth, and how often equal judges look different.

Each query has its own share of relevant passages and its own number of them, in two worlds some
many more than others. Two people and two judges see a passage's worth each with an error of their
own, and each is off by something of its own on each query. The truth is what endless queries say.

    python -m tests.benchmarks.agreement [--collections 500]
"""

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table

from gradelake.analyses.stats.ceiling import together
from gradelake.analyses.stats.kappas import Met, apart, kappa, kappas_of
from gradelake.analyses.stats.krippendorff_alpha import Coincidences, alpha, bootstrap_alpha
from gradelake.analyses.stats.resample import Spread

REPLICATES, ENDLESS = 400, 30_000
QUERIES = (15, 25, 50, 100)
SCALE = np.arange(4)
CUTS = (2, 2, 2)
KINDS = ("binary", "quadratic")
# of two people, then of two judges: noise, how generous, how far off on a whole query
WORLDS = {
    "people better": ((0.6, 0, 0.2), (0.6, 0, 0.2), (0.7, 0.1, 0.3), (0.9, 0.2, 0.3)),
    "as people": ((0.9, 0, 0.3), (0.9, 0, 0.3), (0.9, 0, 0.3), (1.6, 0.3, 0.6)),
    "nearly all agree": ((0.1, 0, 0), (0.1, 0, 0), (0.2, 0, 0.1), (0.3, 0, 0.1)),
}
SPREAD = {"people better": 0.8, "as people": 0.3, "nearly all agree": 0.8}
CEILING = (0, 1, 2), [(0, 2), (1, 2), (0, 1)], (-0.5, -0.5, 1)
RIVALS = (0, 2, 3), [(0, 1), (0, 2)], (1, -1)
console = Console(highlight=False, width=125)


def draw(generator: np.random.Generator, queries: int, world, spread=0.8) -> np.ndarray:
    """How often labels meet: (queries, 4, 4, 4, 4), of two people, then of two judges. `spread`: of
    the logarithm of how many passages a query has."""
    sizes = np.clip(generator.lognormal(3.2, spread, queries), 5, 400).astype(int)
    query = np.repeat(np.arange(queries), sizes)
    worth = generator.normal(-0.3, 0.7, queries)[query] + generator.normal(0, 1, len(query))
    labels = []
    for noise, generous, off in world:
        seen = worth + generous + generator.normal(0, 1, queries)[query] * off
        seen += generator.normal(0, 1, len(query)) * noise
        labels.append(np.digitize(seen, (0, 0.7, 1.4)))
    counts = np.zeros((queries, 4, 4, 4, 4))
    np.add.at(counts, (query, *labels), 1)
    return counts


def of(counts: np.ndarray, *sides: int) -> np.ndarray:
    """Of these sides alone, in ascending order."""
    return counts.sum(axis=tuple(each - 4 for each in range(4) if each not in sides))


def coincidences(counts: np.ndarray) -> np.ndarray:
    """Krippendorff's, of all four sides: (..., 4, 4)."""
    pairs = [of(counts, one, other) for one in range(4) for other in range(one + 1, 4)]
    return (sum(pairs) + np.swapaxes(sum(pairs), -1, -2)) / 3


def figures(
    counts: np.ndarray, replicates: int = REPLICATES
) -> dict[str, tuple[float, Spread, float]]:
    """name -> (value, its interval, p where there is one)."""
    found = {}
    asked = (replicates, 1, 0.95)
    judged = Met((SCALE, SCALE), of(counts, 0, 2))
    distances = [apart(kind, judged.scales, 2, 2) for kind in KINDS]
    for kind, (value, spread) in zip(KINDS, kappas_of(judged, distances, *asked), strict=True):
        found[f"kappa, {kind}"] = value, spread, np.nan
    for name, (sides, *how) in {"shortfall": CEILING, "difference": RIVALS}.items():
        met = Met((SCALE,) * 3, of(counts, *sides))
        for kind in KINDS:
            one = together((met, CUTS), kind, *how, *asked)
            found[f"{name}, {kind}"] = one.difference, one.spread, one.p
    coinciding = Coincidences(
        tuple(map(str, range(len(counts)))), SCALE * 1.0, coincidences(counts), 0
    )
    value = float(alpha(coinciding.counts.sum(axis=0), coinciding.scale))
    drawn = bootstrap_alpha(coinciding, "ordinal", replicates, 1)
    found["alpha, percentiles"] = value, Spread.of(drawn, 0.95), np.nan
    n_disagreeing = int(coinciding.disagrees.sum())
    around = Met((SCALE,) * 4, counts).spread(
        value, drawn, 0.95, n_disagreeing, is_correlation=True
    )
    found["alpha"] = value, around, np.nan
    return found


def swapped(counts: np.ndarray, generator: np.random.Generator) -> float:
    """p of the judges' binary kappas being equal, by swapping their labels within queries."""
    ours, theirs = of(counts, 0, 2).reshape(-1, 16), of(counts, 0, 3).reshape(-1, 16)
    distance = apart("binary", (SCALE, SCALE), 2, 2)

    def difference(swap: np.ndarray) -> np.ndarray:
        sides = swap @ theirs + (1 - swap) @ ours, swap @ ours + (1 - swap) @ theirs
        one, other = (kappa(side.reshape(-1, 4, 4), distance) for side in sides)
        return np.abs(one - other)

    at_least = difference(generator.integers(0, 2, (REPLICATES, len(ours))) * 1.0)
    observed = difference(np.zeros((1, len(ours))))
    return (1 + np.sum(at_least >= observed - 1e-12)) / (REPLICATES + 1)


def as_good(generous: float) -> tuple:
    """A judge more generous than a plain one, with the same binary kappa with a person."""
    person, plain = (0.6, 0, 0.2), (0.8, 0, 0.3)
    low, high = 0.0, 0.8
    distance = apart("binary", (SCALE, SCALE), 2, 2)
    for _ in range(12):
        noise = (low + high) / 2
        world = (person, person, plain, (noise, generous, 0.3))
        endless = draw(np.random.default_rng(7), ENDLESS, world).sum(axis=0)
        one, other = (kappa(of(endless, 0, judge), distance) for judge in (2, 3))
        low, high = (noise, high) if other > one else (low, noise)
    return world


def coverage(n: int) -> Table:
    """Whose interval holds the truth."""
    table = Table("judges", "figure", "truth", *(f"{q} queries" for q in QUERIES))
    table.title = f"Of the intervals of {n} collections, which hold the truth"
    for name, world in WORLDS.items():
        spread = SPREAD[name]
        endless = draw(np.random.default_rng(1), ENDLESS, world, spread).sum(axis=0, keepdims=True)
        truth = {figure: value for figure, (value, *_) in figures(endless, 2).items()}
        generator = np.random.default_rng(2)
        held = {figure: [] for figure in truth}
        for queries in QUERIES:
            found = [figures(draw(generator, queries, world, spread)) for _ in range(n)]
            for figure, value in truth.items():
                spreads = [one[figure][1] for one in found if one[figure][1].low is not None]
                share = np.mean([s.low - 1e-9 <= value <= s.high + 1e-9 for s in spreads])
                held[figure].append(f"{share:.1%}")
        for figure, value in truth.items():
            table.add_row(name, figure, f"{value:.3f}", *held[figure])
    return table


def false_alarms(n: int) -> Table:
    """In how many collections judges of equal kappas look different."""
    table = Table("the other judge", "test", *(f"{q} queries" for q in QUERIES))
    table.title = f"Of {n} collections with judges of equal kappas, in how many p <= 0.05"
    for what, generous in (("like it", 0), ("more generous", 0.8)):
        world, generator = as_good(generous), np.random.default_rng(3)
        said = {"resampling queries": [], "swapping judges": []}
        for queries in QUERIES:
            ps = []
            for _ in range(n):
                counts = draw(generator, queries, world)
                met = Met((SCALE,) * 3, of(counts, *RIVALS[0]))
                one = together((met, CUTS), "binary", *RIVALS[1:], REPLICATES, 1, 0.95)
                ps.append((one.p, swapped(counts, generator)))
            for name, share in zip(said, np.mean(np.array(ps) <= 0.05, axis=0), strict=True):
                said[name].append(f"{share:.1%}")
        for name, shares in said.items():
            table.add_row(what, name, *shares)
    return table


def main() -> None:
    """Simulate, and print two tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--collections", type=int, default=500)
    n = parser.parse_known_args()[0].collections
    console.print(coverage(n))
    console.print(false_alarms(n))


if __name__ == "__main__":
    main()
