"""How often 95 % intervals of `stats estimate` hold the scores by people's labels of everything.

Single pairs: P@10 from 50 to 500 of them, drawn by the judge's labels as a sample of `export qrels`
and `queue add` do, with pairs of every depth and of the first ten alone. Whole queries: of as many
as in each column, for the mean over the label set's queries. On TREC DL 2019 where its data is at
hand, and in made-up worlds that are nothing like it. Counted are the systems that get an interval,
how many of these hold, and how many of the worst single system's.

    python -m tests.benchmarks.samples [--samples 200] [--only pairs]
"""

import argparse
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from gradelake.analyses.stats.boards import UNIT, read_board
from gradelake.analyses.stats.estimate import _Asked, _enough_queries, _read_tops
from gradelake.analyses.stats.judged_sample import JudgedSample
from gradelake.analyses.stats.prediction_powered import (
    Estimate,
    PairStratum,
    Stratum,
    prediction_powered,
    relevant_pairs,
    stratified,
)
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.sampling import allocate, neyman
from tests import lakes
from tests.places import missing_dl19

ALLOCATIONS = ("proportional", "equal", "neyman")
SIZES = (50, 100, 200, 500)
QUERIES = (5, 10, 15, 20, 30)
K, PILOT = 10, 10  # pairs of each label that were judged before a draw by Neyman
console = Console(highlight=False, width=130)


class World(NamedTuple):
    """`label`, `judge`, `human`: (pairs,), what pairs are drawn by, and whether each holds them
    relevant; `ranked`: (pairs, systems), whether they are in a system's top k."""

    label: np.ndarray
    judge: np.ndarray
    human: np.ndarray
    ranked: np.ndarray

    def of(self, pairs: np.ndarray) -> "World":
        return World(*(column[pairs] for column in self))


def made_up(
    human: np.ndarray, label: np.ndarray, level: int, generator: np.random.Generator, k: int = K
) -> World:
    """A world of fifteen systems, which rank by what people say, some almost by chance."""
    skill = generator.uniform(0, 2.5, 15)
    ranked = np.zeros((*human.shape, len(skill)), dtype=bool)
    noise = generator.normal(size=ranked.shape)
    best = np.argsort(-(noise + human[..., None] * skill), axis=1)[:, :k]
    np.put_along_axis(ranked, best, True, axis=1)
    label = label.astype(int).ravel()
    return World(label, label >= level, human.ravel(), ranked.reshape(-1, len(skill)))


def few_errors(generator: np.random.Generator) -> World:
    human = generator.random((60, 80)) < generator.beta(1, 3, (60, 1))
    wrong = np.where(generator.random((60, 1)) < 0.1, 0.5, 0.01)
    return made_up(human, human ^ (generator.random(human.shape) < wrong), 1, generator)


def good_on_four_labels(generator: np.random.Generator) -> World:
    worth = generator.normal(-0.8, 0.6, (200, 1)) + generator.normal(0, 1.2, (200, 50))
    seen = worth + generator.normal(0, 0.5, worth.shape)
    return made_up(worth >= 1.5, np.clip(np.rint(seen), 0, 3), 2, generator)


def strict(generator: np.random.Generator) -> World:
    human = generator.random((25, 150)) < generator.beta(1, 2, (25, 1))
    return made_up(human, human & (generator.random(human.shape) < 0.25), 1, generator)


def hardly_anything_relevant(generator: np.random.Generator) -> World:
    human = generator.random((80, 60)) < 0.03
    said = generator.random(human.shape) < np.where(human, 0.9, 0.2)
    return made_up(human, said, 1, generator)


def labels_say_nothing(generator: np.random.Generator) -> World:
    human = generator.random((30, 100)) < generator.beta(0.3, 2, (30, 1))
    label = generator.choice(5, human.shape, p=[0.6, 0.2, 0.1, 0.07, 0.03])
    return made_up(human, label, 2, generator)


def two_systems_fool_it(generator: np.random.Generator) -> World:
    human = generator.random((50, 80)) < 0.25
    world = made_up(human, human ^ (generator.random(human.shape) < 0.04), 1, generator)
    own = world.ranked[:, :2].any(axis=1) & (world.ranked.sum(axis=1) <= 3)
    return world._replace(label=np.where(own, 1, world.label), judge=world.judge | own)


def first_ranks(generator: np.random.Generator) -> World:
    human = generator.random((300, 20)) < 0.15
    said = generator.random(human.shape) < np.where(human, 0.8, 0.1)
    return made_up(human, said + generator.integers(0, 2, human.shape), 1, generator, k=1)


MADE_UP = {
    "few errors, most in 6 of 60 queries": few_errors,
    "a good judge, four labels": good_on_four_labels,
    "says it of a quarter of what is relevant": strict,
    "3 % is relevant": hardly_anything_relevant,
    "five labels that say nothing": labels_say_nothing,
    "two systems fool the judge": two_systems_fool_it,
    "P@1": first_ranks,
}


def of_dl19(lake: Lake, judge: str, level: int) -> World:
    """All pairs that a judge labelled."""
    sample = JudgedSample("", (), f"judge:{judge}", "pair", None, {}, [])
    tops = _read_tops(_Asked(lake, "dl19", sample.label_set, sample, level, 2), K)
    relevant = lake.rows("select query_id, passage_id from lake.raw.judgments where relevance >= 2")
    human, nothing = set(relevant), np.zeros(len(tops.systems), dtype=bool)
    return World(
        np.array(list(tops.labels.values())),
        np.array([pair in tops.relevant for pair in tops.labels]),
        np.array([pair in human for pair in tops.labels]),
        np.array([tops.ranked.get(pair, nothing) for pair in tops.labels]),
    )


def draws(
    world: World, allocation: str, size: int, n: int, generator: np.random.Generator
) -> Iterator[list[PairStratum]]:
    """`n` samples of `size` pairs."""
    of = {str(label): np.flatnonzero(world.label == label) for label in np.unique(world.label)}
    sizes = {code: len(pairs) for code, pairs in of.items()}
    known = {
        code: (world.ranked[pairs].sum(axis=0), (world.ranked & world.judge[:, None])[pairs].sum(0))
        for code, pairs in of.items()
    }
    for _ in range(n):
        weights: dict[str, float] = dict.fromkeys(sizes, 1)
        if allocation == "proportional":
            weights = dict(sizes)
        elif allocation == "neyman":
            judged = {c: generator.permutation(pairs)[:PILOT] for c, pairs in of.items()}
            weights = neyman(
                sizes, {c: (len(each), int(world.human[each].sum())) for c, each in judged.items()}
            )
        strata = []
        for code, n_drawn in allocate(sizes, size, weights).items():
            drawn = world.of(generator.choice(of[code], n_drawn, replace=False))
            strata.append(
                PairStratum(sizes[code], drawn.human, drawn.judge, drawn.ranked, *known[code])
            )
        yield strata


Found = list[tuple[Estimate, np.ndarray]]  # with the truth: (systems,)


def of_pairs(world: World, allocation: str, size: int, n: int) -> Found:
    """Estimates from both, and from the sample alone."""
    truth = (world.ranked & world.human[:, None]).sum(axis=0)
    judge_total = (world.ranked & world.judge[:, None]).sum(axis=0)
    return [
        (relevant_pairs(strata, total), truth)
        for strata in draws(world, allocation, size, n, np.random.default_rng(size))
        for total in (judge_total, None)
    ]


def of_queries(
    human: np.ndarray, judge: np.ndarray, size: int, n: int, endless: bool = False
) -> Found:
    """Estimates from both; `human`, `judge`: (queries, systems), scores of all queries. `endless`:
    of queries like these, from collections of as many that are drawn of them with replacement."""
    generator, n_queries = np.random.default_rng(size), len(human)
    found = []
    for _ in range(n):
        own = (
            generator.integers(n_queries, size=n_queries)
            if endless
            else generator.permutation(n_queries)
        )
        y, f, every = human[own[:size]], judge[own[:size]], judge[own]
        if endless:
            estimate = prediction_powered(y, f, every[size:])
        else:
            strata = [Stratum(n_queries, y / n_queries, f / n_queries)]
            estimate = stratified(strata, every.mean(axis=0))
        enough = _enough_queries(estimate, y, f, every)
        found.append((estimate.only_where(enough), human.mean(axis=0)))
    return found


def counted(found: Found) -> tuple[float, float, float]:
    """The share of systems with an interval, how many of these hold, and of the worst system."""
    given, held = [], []
    for estimate, truth in found:
        low, high = estimate.interval(0.95)
        given.append(~np.isnan(low))
        held.append((low <= truth) & (truth <= high))
    n_given = np.sum(given, axis=0)
    often = n_given >= len(found) / 4
    share = np.sum(np.array(held) & given, axis=0)[often] / n_given[often]
    worst = share.min() if len(share) else np.nan
    return np.mean(given), np.mean(np.array(held)[given]) if n_given.any() else np.nan, worst


def cell(cases: list[Found]) -> str:
    """Of several cases those that do worst."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of cases in which no system has an interval
        given, held, worst = np.array([counted(found) for found in cases]).T
        if not given.any():
            return "0 %"
        least = f"{np.nanmin(worst):.0%}" if np.isfinite(worst).any() else "few"
        return f"{given.mean():.0%}: {np.nanmin(held):.1%}, {least}"


def pairs_table(lake: Lake | None, n: int) -> Table:
    table = Table(
        "pairs of", "drawn", *map(str, SIZES), title=f"P@{K}, {n} samples of single pairs"
    )
    worlds: dict[str, list[World]] = {
        name: [make(np.random.default_rng(1))] for name, make in MADE_UP.items()
    }
    for judge in lakes.DL19_JUDGES if lake else ():
        both = [of_dl19(lake, judge, level) for level in (1, 2)]
        worlds[f"DL 2019, {judge}"] = both
        worlds[f"DL 2019, {judge}, depth {K}"] = [
            world.of(np.flatnonzero(world.ranked.any(axis=1))) for world in both
        ]
    for name, cases in worlds.items():
        for allocation in ALLOCATIONS:
            cells = [
                cell([of_pairs(world, allocation, size, n) for world in cases]) for size in SIZES
            ]
            table.add_row(name, allocation, *cells)
    return table


def queries_table(lake: Lake, n: int, endless: bool) -> Table:
    of = "queries like these" if endless else "these queries"
    title = f"{n} samples of whole queries, for {of}"
    table = Table("measure", "judge", *map(str, QUERIES), title=title)
    for measure in ("nDCG@10", "AP", "RR", "P@10"):
        human = read_board(lake, "dl19", "assessor:nist", measure, 2)
        for judge in lakes.DL19_JUDGES:
            boards = [
                read_board(lake, "dl19", f"judge:{judge}", measure, level) for level in (1, 2)
            ]
            cells = [
                cell(
                    [
                        of_queries(human.values / UNIT, b.values / UNIT, size, n, endless)
                        for b in boards
                    ]
                )
                for size in QUERIES
            ]
            table.add_row(measure, judge, *cells)
    return table


def main() -> None:
    """Simulate, and print two tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--only", choices=["pairs", "queries"])
    asked = parser.parse_args()
    if reason := missing_dl19():
        console.print(f"made-up worlds only: {reason}")
        console.print(pairs_table(None, asked.samples))
        return
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "dl19"
        lakes.copy_of(lakes.kept("dl19", lakes.make_dl19), project)
        with Lake.published(Project.find(project)) as lake:
            if asked.only != "queries":
                console.print(pairs_table(lake, asked.samples))
            if asked.only != "pairs":
                for endless in (False, True):
                    console.print(queries_table(lake, 5 * asked.samples, endless))


if __name__ == "__main__":
    main()
