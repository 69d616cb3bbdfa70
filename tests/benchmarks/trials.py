"""How often 95 % intervals of a score hold the mean over endless queries and trials of a judge.

Each query has a pool of 100 passages with true labels of 0 to 3, ten of which a system ranks. What
the judge says is the true label and chance: of each passage, and of each trial as a whole (one that
shows the options in another order is milder, or stricter). The score is nDCG@10 by its labels.

    python -m tests.benchmarks.trials [--collections 1000]
"""

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import t

from tests.noise_oracle import noise

QUERIES, POOL, MANY = 50, 100, 40_000
OF_PASSAGES = 0.7  # standard deviations, in labels
OF_TRIALS = (0.0, 0.1, 0.2, 0.4)
TRIALS = (1, 3, 5)
DISCOUNTS = 1 / np.log2(np.arange(2, 12))
console = Console(highlight=False, width=110)


def scores(generator, queries: int, trials: int, shifts: np.ndarray) -> np.ndarray:
    """nDCG@10 of new queries: (queries, trials); a shift for each query and trial, or for all."""
    richness = generator.normal(-1.2, 0.6, (queries, 1))
    latent = richness + generator.normal(0, 1.2, (queries, POOL))
    ranked = np.argsort(-(latent + generator.normal(0, 1.2, latent.shape)), axis=1)[:, :10]
    said = latent[:, None] + generator.normal(0, OF_PASSAGES, (queries, trials, POOL))
    labels = np.clip(np.rint(said + shifts[..., None]), 0, 3)
    gains = np.take_along_axis(labels, np.repeat(ranked[:, None], trials, 1), 2) @ DISCOUNTS
    ideal = -np.sort(-labels, axis=2)[:, :, :10] @ DISCOUNTS
    return np.divide(gains, ideal, out=np.zeros_like(gains), where=ideal > 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=1000)
    collections = parser.parse_args().collections
    table = Table(title=f"of {collections} collections of {QUERIES} queries")
    for column in ("trials differ by", "trials", "queries alone", "both", "wider by"):
        table.add_column(column, justify="right")
    for spread in OF_TRIALS:
        generator = np.random.default_rng(1)
        each_its_own = generator.normal(0, spread, (MANY, 1)) if spread else np.zeros((MANY, 1))
        truth = scores(generator, MANY, 1, each_its_own).mean()
        for trials in TRIALS:
            drawn = np.stack(
                [
                    scores(generator, QUERIES, trials, generator.normal(0, spread, (1, trials)))
                    for _ in range(collections)
                ]
            )
            alone = drawn.mean(2)
            error = alone.std(1, ddof=1) / np.sqrt(QUERIES)
            half = t.ppf(0.975, QUERIES - 1) * error
            holds = np.abs(alone.mean(1) - truth) <= half
            row = [f"{spread}", f"{trials}", f"{holds.mean():.1%}"]
            if trials > 1:
                low, high = noise(drawn).interval()
                held = (low <= truth) & (truth <= high)
                row += [f"{held.mean():.1%}", f"{np.mean((high - low) / (2 * half)):.2f}x"]
            table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    main()
