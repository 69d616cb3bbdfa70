"""After how many nights a sentinel finds a judge that has changed, and how often one that has not.

People give four labels; a judge gives theirs, or else one drawn as often as people give it, so that
its kappa is 0.6. In a share of the cases a noisy judge draws anew each night. After three rounds of
reference and BEFORE more, as many labels that agreed change for good as bring the kappa of the set
down by the planted drop; a noisy judge also draws its labels with a kappa that is lower by as much.
Evidence is computed by the product's own SQL (`int_drift_evidence`).

    python -m tests.benchmarks.drift [--sets 200] [--years 60]
"""

import argparse

import duckdb
import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from tests.benchmarks.models import model_sql

PEOPLE, KAPPA = np.array([0.5, 0.2, 0.2, 0.1]), 0.6
SIZES, DROPS, NOISES = (200, 500, 1000), (0.02, 0.05, 0.1), (0.0, 0.05, 0.2)
REFERENCE, BEFORE, AFTER, YEAR = 3, 14, 60, 365
DEFAULT, FEW = 1000, 100  # rounds per false alarm
QUIET_SIZES, QUIET_NOISES = (200, 1000), (0.005, 0.05, 0.2)
console = Console(highlight=False, width=130)


def evidence_sql(counts: str) -> str:
    """The model that computes evidence, over a table of counts."""
    return model_sql("intermediate/agreement/int_drift_evidence", "drift", table=counts)


def kappa(labels: np.ndarray, judgments: np.ndarray) -> float:
    """Cohen's, unweighted."""
    cells = np.bincount(4 * judgments + labels, minlength=16).reshape(4, 4) / len(labels)
    chance = cells.sum(axis=0) @ cells.sum(axis=1)
    return float((np.trace(cells) - chance) / (1 - chance))


class Judge:
    """Of one set: labels, round by round, before and after they change."""

    def __init__(self, size: int, noise: float, drop: float, seed: int):
        self.generator = np.random.default_rng(seed)
        self.noise = noise
        self.judgments = self.generator.choice(4, size, p=PEOPLE)
        usual = self._drawn(KAPPA, self.judgments)
        self.usual, self.kappas = (usual, self._lowered(usual, drop)), (KAPPA, KAPPA - drop)

    def _drawn(self, kappa: float, judgments: np.ndarray) -> np.ndarray:
        as_people = self.generator.random(judgments.shape) < kappa
        return np.where(as_people, judgments, self.generator.choice(4, judgments.shape, p=PEOPLE))

    def _lowered(self, labels: np.ndarray, drop: float) -> np.ndarray:
        aim, labels = kappa(labels, self.judgments) - drop, labels.copy()
        agreed = np.flatnonzero(labels == self.judgments)
        for pair in self.generator.permutation(agreed):
            if kappa(labels, self.judgments) <= aim:
                break
            labels[pair] = (labels[pair] + self.generator.integers(1, 4)) % 4
        return labels

    def rounds(self, n: int, after: bool) -> np.ndarray:
        """Labels of n rounds: (n, pairs)."""
        usual = np.broadcast_to(self.usual[after], (n, len(self.judgments)))
        if not self.noise:
            return usual
        judgments = np.broadcast_to(self.judgments, usual.shape)
        anew = self.generator.random(usual.shape) < self.noise
        return np.where(anew, self._drawn(self.kappas[after], judgments), usual)


def counts(labels: np.ndarray, judgments: np.ndarray, name: int) -> pl.DataFrame:
    """What `int_sentinel_counts` says of (rounds, pairs)."""
    reference = np.sort(labels[:REFERENCE], axis=0)[REFERENCE // 2]
    was, is_ = reference == judgments, labels == judgments
    return pl.DataFrame(
        {
            "collection": "c",
            "sentinel": name,
            "grader_id": "g",
            "round": np.arange(1, len(labels) + 1),
            "n_pairs": len(judgments),
            "n_flips": (labels != reference).sum(axis=1),
            "n_agreed_before": was.sum(),
            "n_lost": (was & ~is_).sum(axis=1),
            "n_not_agreed_before": (~was).sum(),
            "n_gained": (~was & is_).sum(axis=1),
        }
    )


def evidence(all_counts: list[pl.DataFrame]) -> pl.DataFrame:
    """Of each set and round: the greater evidence, and the round that it names."""
    connection = duckdb.connect()
    connection.register("counted", pl.concat(all_counts))
    return connection.execute(
        f"""
        select sentinel, round, greatest(flips_evidence, agreement_evidence) as evidence,
            if(agreement_evidence >= flips_evidence, agreement_first_round, flips_first_round)
                as named
        from ({evidence_sql("counted")})
        """
    ).pl()


def alarms(found: pl.DataFrame, rounds_per_false_alarm: int = DEFAULT) -> pl.DataFrame:
    """Of each set that has one: its first alarm."""
    threshold = np.log10(2 * rounds_per_false_alarm)
    return (
        found.filter(pl.col("evidence") >= threshold)
        .sort("round")
        .unique("sentinel", keep="first", maintain_order=True)
    )


def found(size: int, noise: float, drop: float, n: int) -> list[str]:
    """A row of the table: flips a night, nights until half and 90 % are found, how many never are,
    and how often the night it began is named."""
    everything, flips = [], []
    for seed in range(n):
        judge = Judge(size, noise, drop, seed)
        labels = np.concatenate(
            [judge.rounds(REFERENCE + BEFORE, False), judge.rounds(AFTER, True)]
        )
        everything.append(counts(labels, judge.judgments, seed))
        flips.append(everything[-1]["n_flips"][REFERENCE : REFERENCE + BEFORE].mean() / size)
    first = REFERENCE + BEFORE + 1
    seen = alarms(evidence(everything))
    right = seen.filter(pl.col("round") >= first)
    nights = np.full(n - (seen.height - right.height), np.inf)  # those with a false alarm aside
    nights[: right.height] = right["round"].to_numpy() - first + 1
    near = (right["named"] - first).abs()
    half, most = np.quantile(nights, [0.5, 0.9], method="inverted_cdf")
    return [
        *(str(size), f"{np.mean(flips):.1%}", f"{drop:g}"),
        *(f"{value:.0f}" if np.isfinite(value) else f"more than {AFTER}" for value in (half, most)),
        f"{1 - np.isfinite(nights).mean():.0%}",
        f"{(near == 0).mean():.0%}, {(near <= 1).mean():.0%}" if right.height else "",
    ]


def main() -> None:
    """Simulate, and print two tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--years", type=int, default=60)
    asked = parser.parse_args()
    table = Table(title=f"{asked.sets} sets each; {BEFORE} nights before the change")
    heads = ("pairs", "flips a night", "drop of kappa", "nights, median", "nights, 90 %")
    for head in (*heads, f"not in {AFTER}", "night named, to 1"):
        table.add_column(head, justify="right")
    for noise in NOISES:
        for size in SIZES:
            for drop in DROPS:
                table.add_row(*found(size, noise, drop, asked.sets))
    console.print(table)
    quiet = Table(title=f"Of {asked.years} years of {YEAR} nights without a change, with an alarm")
    heads = [f"rounds_per_false_alarm = {rounds}" for rounds in (DEFAULT, FEW)]
    for head in ("pairs", "flips a night", *heads):
        quiet.add_column(head, justify="right")
    for noise in QUIET_NOISES:
        for size in QUIET_SIZES:
            judges = [Judge(size, noise, 0, seed) for seed in range(asked.years)]
            years = [counts(j.rounds(YEAR, False), j.judgments, n) for n, j in enumerate(judges)]
            flips = pl.concat(years)["n_flips"].mean() / size
            seen = evidence(years)
            n_alarms = (str(alarms(seen, rounds).height) for rounds in (DEFAULT, FEW))
            quiet.add_row(str(size), f"{flips:.1%}", *n_alarms)
    console.print(quiet)


if __name__ == "__main__":
    main()
