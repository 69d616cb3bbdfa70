"""Rates of relevance and nDCG from passages that people judged: bias, and what intervals hold.

Rates: 50 queries, each with a share of relevant passages and a lenience of the judge of its own,
which is wrong most often of near misses. People judge a part: any passage, whole queries, as many
of each label (weighed by how likely they were), more of what is relevant, or, as pools do, of that
and of near misses. The truth is what endless queries say.

nDCG@10: people judge a sample of single pairs, by strata of the judge's labels. A system's DCG is a
sum over pairs, which the difference estimator of `stats estimate` corrects; the ideal is not, and
is taken by the judge's labels, or by how many of each label people are expected to judge how
relevant, or, as nobody can, by people's judgments of all. The truth is nDCG@10 by these.

    python -m tests.benchmarks.rates [--collections 1000]
"""

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table

from gradelake.analyses.stats.kappas import Met
from gradelake.analyses.stats.prediction_powered import Stratum, stratified
from gradelake.analyses.stats.rates import rates_of

QUERIES, REPLICATES, ENDLESS = 50, 400, 60_000
JUDGED = {  # how likely a passage is judged: of relevant ones, of near misses, of others
    "any passage": (0.15, 0.15, 0.15),
    "whole queries": (0.2, 0.2, 0.2),
    "as many of each label": (0.15, 0.15, 0.15),
    "more of what is relevant": (0.36, 0.09, 0.09),
    "more of it, and near misses": (0.36, 0.3, 0.05),
}
SHOWN = ("corrected", "powered", "judged")
console = Console(highlight=False, width=125)


def draw(generator: np.random.Generator, queries: int, judged: str):
    """(queries, labels, 3): passages; by weight, those judged relevant, and the others judged; and
    the share that is relevant."""
    sizes = np.clip(generator.lognormal(4, 0.5, queries), 20, 400).astype(int)
    query = np.repeat(np.arange(queries), sizes)
    share, lenient = generator.beta(1.2, 3.5, queries), generator.uniform(0, 0.2, queries)
    # relevant, a near miss, or neither
    kind = np.where(generator.random(len(query)) < 0.25, 1, 2)
    kind[generator.random(len(query)) < share[query]] = 0
    label = generator.random(len(query)) < np.array([0.65, 0.25, 0.02])[kind] + lenient[query]
    label, weight = label.astype(int), np.ones(len(query))
    if judged == "whole queries":
        is_judged = (generator.random(queries) < JUDGED[judged][0])[query]
    elif judged == "as many of each label":
        half = JUDGED[judged][0] * len(query) / 2
        chance = np.minimum(1, half / np.bincount(label, minlength=2))[label]
        is_judged, weight = generator.random(len(query)) < chance, 1 / chance
    else:
        is_judged = generator.random(len(query)) < np.array(JUDGED[judged])[kind]
    counts = np.zeros((queries, 2, 3))
    np.add.at(counts, (query, label, 0), 1)
    np.add.at(counts, (query, label, np.where(kind == 0, 1, 2)), weight * is_judged)
    return counts, np.mean(kind == 0)


def rates_table(n: int) -> Table:
    """Whose 95 % interval holds the share that is relevant."""
    table = Table("people judge", *(f"{name}: bias, holds" for name in SHOWN))
    table.add_column("width, corrected / powered")
    truth = draw(np.random.default_rng(1), ENDLESS, "any passage")[1]
    table.title = f"Of {n} collections of {QUERIES} queries, in which {truth:.1%} is relevant"
    for judged in JUDGED:
        generator = np.random.default_rng(2)
        found = {name: [] for name in SHOWN}
        for _ in range(n):
            counts, _ = draw(generator, QUERIES, judged)
            (one,) = rates_of(Met((np.arange(2), np.arange(3)), counts), 0, REPLICATES, 1, 0.95)
            for name in SHOWN:
                if one.figures[name] is not None:
                    spread = one.spreads[name]
                    found[name].append((one.figures[name], spread.low, spread.high))
        rows = {name: np.array(of).T for name, of in found.items()}
        said = [
            f"{value.mean() - truth:+.3f}, {np.mean((low <= truth) & (truth <= high)):.1%}"
            for value, low, high in rows.values()
        ]
        wide = [np.mean(rows[name][2] - rows[name][1]) for name in SHOWN[:2]]
        table.add_row(judged, *said, f"{wide[0] / wide[1]:.2f}")
    return table


POOL, SYSTEMS, K, TOPICS = 100, 20, 10, 43
DISCOUNTS = 1 / np.log2(np.arange(2, K + 2))


def pool(generator: np.random.Generator, off: float):
    """Grades by people and a judge: (topics, passages); each system's ten: (topics, 10, systems).
    The judge is off by something of its own on a topic."""
    worth = generator.normal(-0.9, 0.7, (TOPICS, 1)) + generator.normal(0, 1.2, (TOPICS, POOL))
    seen = worth + generator.normal(0, 0.8, worth.shape) + generator.normal(0, off, (TOPICS, 1))
    people, judge = (np.clip(np.rint(each), 0, 3).astype(int) for each in (worth, seen))
    noise = generator.uniform(0.6, 2.5, SYSTEMS)
    ranks = worth[..., None] + generator.normal(0, 1, (TOPICS, POOL, SYSTEMS)) * noise
    return people, judge, np.argsort(-ranks, axis=1)[:, :K]


def ideal(counts: np.ndarray) -> np.ndarray:
    """DCG@10 of the best order, of how many passages have each grade, whole numbers or not."""
    ends = np.minimum(np.cumsum(counts[:, ::-1], axis=1), K)  # from the highest grade
    area = np.concatenate([[0], np.cumsum(DISCOUNTS)])
    upto = np.apply_along_axis(np.interp, 1, ends, np.arange(K + 1), area)
    return np.diff(upto, axis=1, prepend=0) @ np.arange(counts.shape[1])[::-1]


def inverse(best: np.ndarray) -> np.ndarray:
    """0 where nothing is relevant, as nDCG is there."""
    return np.divide(1, best, out=np.zeros_like(best), where=best > 0)


def grades(labels: np.ndarray) -> np.ndarray:
    return np.stack([(labels == grade).sum(axis=1) for grade in range(4)], axis=1)


def ndcg_table(n: int) -> Table:
    """Whose 95 % interval holds the mean nDCG@10 by people's judgments of all."""
    table = Table("off on a query by", "pairs judged", "ideal", "bias", "holds")
    table.title = f"nDCG@10 from single pairs, {n} samples: bias, and 95 % intervals that hold"
    for off in (0.0, 0.5):
        generator = np.random.default_rng(4)
        people, judge, top = pool(generator, off)
        place = np.zeros((TOPICS, POOL, SYSTEMS))
        np.put_along_axis(place, top, np.broadcast_to(DISCOUNTS[:, None], top.shape), axis=1)
        by_people = ideal(grades(people))
        gains = np.einsum("tps,tp->ts", place, people)
        truth = (gains * inverse(by_people)[:, None]).mean(axis=0)
        for size in (200, 400, 1000):
            found = {name: [] for name in ("judge", "expected", "people")}
            for _ in range(n):
                drawn = []
                for label in range(4):
                    among = np.flatnonzero(judge.ravel() == label)
                    many = max(2, round(size * len(among) / judge.size))
                    drawn.append(generator.choice(among, many, replace=False))
                shares = [np.bincount(people.ravel()[of], minlength=4) / len(of) for of in drawn]
                ideals = {
                    "judge": ideal(grades(judge)),
                    "expected": ideal(grades(judge) @ np.array(shares)),
                    "people": by_people,
                }
                for name, best in ideals.items():
                    each = (place * inverse(best)[:, None, None] / TOPICS).reshape(-1, SYSTEMS)
                    strata = [
                        Stratum(
                            int((judge == label).sum()),
                            each[of] * people.ravel()[of, None],
                            each[of] * judge.ravel()[of, None],
                        )
                        for label, of in enumerate(drawn)
                    ]
                    one = stratified(strata, (each * judge.ravel()[:, None]).sum(axis=0))
                    low, high = one.interval(0.95)
                    found[name].append((one.value - truth, (low <= truth) & (truth <= high)))
            for name, of in found.items():
                bias, holds = np.array(of, dtype=float).mean(axis=(0, 2))
                table.add_row(f"{off}", f"{size}", name, f"{bias:+.3f}", f"{holds:.1%}")
    return table


def main() -> None:
    """Simulate, and print two tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--collections", type=int, default=1000)
    n = parser.parse_known_args()[0].collections
    console.print(rates_table(n))
    console.print(ndcg_table(n))


if __name__ == "__main__":
    main()
