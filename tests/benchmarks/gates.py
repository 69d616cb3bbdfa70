"""What `gradelake gate` says where the truth is known: planted drops, and nulls by the thousand.

Runs of the demo and, where its data is at hand, of TREC DL 2019 are made worse by a known mean
nDCG@10 (as pytrec_eval computes it): passages of their tops change places with passages below. Each
is ingested, and judged by the command against the run that it was made of.

Then nulls: pairs of systems at most five ranks apart, their queries drawn anew with replacement.
Fair ones: whose a score is is chance, so nothing fell. Skewed ones keep the sides, and the pair's
mean is taken off. Counted is how often one fell that did not, or by just the tolerance, and how
often a drop of just the tolerance passed.

    python -m tests.benchmarks.gates [--nulls 3000]
"""

import argparse
import gzip
import json
import tempfile
from pathlib import Path

import numpy as np
import pytrec_eval
from rich.console import Console
from rich.table import Table

from gradelake.analyses.gate.verdict import FELL, PASSED, Paired, judge
from gradelake.analyses.stats.boards import UNIT, Board, read_board
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake, run
from tests.lakes import write_dl19_config
from tests.places import DL19, missing_dl19

DROPS = (0.0, 0.01, 0.02, 0.05)
TOLERANCE, ALPHA = 0.01, 0.05
MEASURES = ("nDCG@10", "AP", "RR", "P@10")
NEAR, EXACT = 5, 3e-4  # ranks apart, and how exactly a drop is planted
console = Console(highlight=False, width=130)
Run = dict[str, list[str]]  # query -> passages, best first


class Planter:
    """Makes runs of a known mean nDCG@10 out of one."""

    def __init__(self, run: Run, qrels: dict[str, dict[str, int]], seed: int):
        self.run = {query: run.get(query, []) for query in qrels}
        self.generator = np.random.default_rng(seed)
        self.evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"})
        self.before = self._values(self.run)

    def _values(self, run: Run) -> dict[str, float]:
        scored = {q: {p: -float(n) for n, p in enumerate(ps)} for q, ps in run.items()}
        found = self.evaluator.evaluate(scored)
        return {query: found[query]["ndcg_cut_10"] if query in found else 0.0 for query in run}

    def worse_by(self, drop: float) -> Run:
        """After some changes at random, those that bring the mean closer to the drop; where none
        does any more, some at random again."""
        made = {query: list(passages) for query, passages in self.run.items()}
        values = dict(self.before)
        aim = sum(self.before.values()) - drop * len(made)
        queries = [query for query, passages in made.items() if len(passages) > 10]
        n_random = len(made) // 2
        for step in range(100_000):
            off = sum(values.values()) - aim
            if step >= n_random and abs(off) < EXACT * len(made):
                return made
            query = queries[self.generator.integers(len(queries))]
            top, below = self.generator.integers(10), self.generator.integers(10, 50)
            tried = list(made[query])
            if below >= len(tried):
                continue
            tried[top], tried[below] = tried[below], tried[top]
            value = self._values({query: tried})[query]
            if step % 500 < n_random or abs(off + value - values[query]) < abs(off):
                made[query], values[query] = tried, value
        raise AssertionError(f"no drop of {drop} was found")


def read_run(file: Path) -> Run:
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    rows = [line.split() for line in text.decode().splitlines()]
    found: Run = {}
    for query, _, passage, _, _, _ in sorted(rows, key=lambda row: (float(row[4]), row[2]))[::-1]:
        found.setdefault(query, []).append(passage)
    return found


def read_qrels(file: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for query, _, passage, label in (line.split() for line in file.read_text().splitlines()):
        found.setdefault(query, {})[passage] = max(0, int(label))
    return found


def make(collection: str, folder: Path) -> tuple[Path, list[Path], str]:
    """A project without a lake yet; (its qrels, its runs, its assessor)."""
    if collection == "demo":
        gradelake(folder.parent, "init", str(folder), "--demo")
        return folder / "judgments.qrels", sorted(folder.glob("runs/*.run")), "human"
    write_dl19_config(folder, [f"{DL19}/runs/*.run.gz", "runs/*.run"])
    (folder / "runs").mkdir()
    return DL19 / "qrels.txt", sorted(DL19.glob("runs/*.run.gz")), "nist"


def planted(collection: str, folder: Path, systems: tuple[str, ...], table: Table) -> Path:
    """Plant, ingest, build, judge each; a row for each system and drop."""
    qrels_file, runs, assessor = make(collection, folder)
    qrels = read_qrels(qrels_file)
    for seed, system in enumerate(systems):
        (file,) = (run for run in runs if run.name.split(".")[0] == system)
        planter = Planter(read_run(file), qrels, seed)
        for drop in DROPS:
            lines = [
                f"{query} Q0 {passage} {rank} {1000 - rank} x\n"
                for query, passages in planter.worse_by(drop).items()
                for rank, passage in enumerate(passages, start=1)
            ]
            (folder / "runs" / f"{system}-{drop}.run").write_text("".join(lines))
    gradelake(folder, "ingest", collection)
    gradelake(folder, "build")
    for system in systems:
        for drop in DROPS:
            done = run(
                folder,
                *("gate", collection, "--system", f"{system}-{drop}", "--baseline", system),
                *("--measure", "nDCG@10", "--label-set", f"assessor:{assessor}"),
                *("--tolerance", str(TOLERANCE), "--alpha", str(ALPHA), "--json"),
            )
            found = json.loads(done.stdout)
            (one,) = found["measures"]
            assert abs(one["difference"] + drop) <= EXACT + 1e-9, (system, drop, one)
            table.add_row(
                *(collection, system, str(one["n_queries"]), f"{drop:g}"),
                *(f"{one['difference']:z.4f}", f"{one['low']:z.4f} to {one['high']:z.4f}"),
                *(f"{found['verdict']} ({done.returncode})", _told(one["queries_if_equal"])),
            )
    return folder


def _told(n: int | None) -> str:
    return "" if n is None else f"{n:,}"


def near_pairs(boards: list[Board]) -> list[tuple[int, int]]:
    """Columns of systems that are not planted ones, at most `NEAR` ranks apart by the first."""
    values, systems = boards[0].values, boards[0].systems
    order = [n for n in np.argsort(-values.mean(axis=0)) if "-0" not in systems[n]]
    pairs = [(a, b) for n, a in enumerate(order) for b in order[n + 1 : n + 1 + NEAR]]
    return [
        (a, b)
        for a, b in pairs
        if all((one.values[:, a] != one.values[:, b]).any() for one in boards)
    ]


def nulls(folder: Path, collection: str, assessor: str, n_nulls: int, table: Table) -> None:
    """How often verdicts are wrong, by each measure and by all four together."""
    with Lake.published(Project.find(folder)) as lake:
        boards = [read_board(lake, collection, f"assessor:{assessor}", m) for m in MEASURES]
    pairs = near_pairs(boards)
    generator = np.random.default_rng(1)
    for kind in ("fair", "skewed"):
        for chosen in [*([board] for board in boards), boards]:
            wrong = _wrong(chosen, kind == "fair", pairs, n_nulls, generator) / n_nulls
            name = chosen[0].measure if len(chosen) == 1 else f"all {len(chosen)}"
            table.add_row(collection, kind, name, *(f"{share:.1%}" for share in wrong))


def _wrong(
    boards: list[Board],
    is_fair: bool,
    pairs: list[tuple[int, int]],
    n_nulls: int,
    generator: np.random.Generator,
) -> np.ndarray:
    """How many fell without a drop, fell by just the tolerance, and passed with that."""
    n_queries, wrong = len(boards[0].queries), np.zeros(3)
    for _ in range(n_nulls):
        a, b = pairs[generator.integers(len(pairs))]
        rows = generator.integers(0, n_queries, n_queries)
        sides = generator.choice([-1, 1], n_queries if is_fair else 1)
        measures, lower = [], []
        for board in boards:
            differences = board.values[:, a] - board.values[:, b]
            if not is_fair:
                differences = np.rint(differences - differences.mean())
            drawn = differences[rows] * sides
            for made, drop in ((measures, 0), (lower, TOLERANCE * UNIT)):
                base = np.zeros(n_queries)
                made.append(Paired(board.measure, 1, board.queries, base, drawn - drop))
        by_tolerance = judge(lower, TOLERANCE, ALPHA).verdict
        wrong += (
            judge(measures, TOLERANCE, ALPHA).verdict == FELL,
            by_tolerance == FELL,
            by_tolerance == PASSED,
        )
    return wrong


def main() -> None:
    """Plant, draw, and print two tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nulls", type=int, default=3000)
    n_nulls = parser.parse_known_args()[0].nulls
    verdicts = Table(title=f"Planted drops of nDCG@10; tolerance {TOLERANCE}, alpha {ALPHA}")
    heads = ("collection", "run", "queries", "planted", "measured", "90% interval")
    for head in (*heads, "verdict (exit code)", "would do"):
        verdicts.add_column(head)
    alarms = Table(title=f"Wrong verdicts in {n_nulls:,} nulls; alpha {ALPHA}")
    heads = ("fell: no drop", "fell: drop = tolerance", "passed: drop = tolerance")
    for head in ("collection", "nulls", "measure", *heads):
        alarms.add_column(head)
    with tempfile.TemporaryDirectory() as room:
        for collection, assessor, systems in (
            ("demo", "human", ("bm25_rm3", "lsa")),
            ("dl19", "nist", ("bm25base_p", "idst_bert_p1", "TUW19-p3-f")),
        ):
            if collection == "dl19" and (reason := missing_dl19()):
                console.print(reason)
                continue
            folder = planted(collection, Path(room) / collection, systems, verdicts)
            nulls(folder, collection, assessor, n_nulls, alarms)
    console.print(verdicts)
    console.print(alarms)


if __name__ == "__main__":
    main()
