"""Leaderboards: Gradelake against pytrec_eval on the same cells, in one run, with where time goes.

TREC DL 2019: 37 runs, 4 label sets, levels 1-5, 6 measures; then the same runs repeated under
other names, to see how it grows. Absolute times depend on the machine; the ratios are the result.

    python -m tests.benchmarks.leaderboards [--repeat 10]
"""

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.table import Table

from tests.benchmarks.aims import console, note
from tests.lakes import DL19_JUDGES, write_dl19_config
from tests.places import DL19, missing_dl19

MEASURES = {"ndcg_cut.10,20", "map", "recip_rank", "Rprec", "P.10"}
# the models that compute what evaluate() computes: rankings, and each topic's value
MEASURE_MODELS = ("int_labels", "int_ranked_entries", "int_label_scores")


def timed(work: Callable[[], object]) -> tuple[float, float, object]:
    """(wall seconds, CPU seconds of this process and its children, result)."""

    def cpu() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in used)

    wall, before = time.perf_counter(), cpu()
    result = work()
    return time.perf_counter() - wall, cpu() - before, result


def command(folder: Path, *arguments: str) -> str:
    """One command line in a process of its own, start-up included."""
    done = subprocess.run(
        [sys.executable, "-m", "gradelake", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def import_labels(folder: Path) -> None:
    """Those of three judges of DL 2019."""
    for judge, file in DL19_JUDGES.items():
        labels = str(DL19 / "labels" / f"{file}.qrels")
        command(folder, "import", "labels", "dl19", labels, "--judge", judge)


# --- pytrec_eval: a process of its own too ------------------------------------------------------

PYTREC = """
import gzip, json, sys, time
from collections import defaultdict
started = time.perf_counter()
import pytrec_eval
qrels_files, run_files, measures = json.load(sys.stdin)
labels, runs = [], []
for file in qrels_files:
    qrels = defaultdict(dict)
    for line in open(file):
        query, _, passage, label = line.split()
        qrels[query][passage] = max(0, int(label))
    labels.append(dict(qrels))
for file in run_files:
    run = defaultdict(dict)
    with gzip.open(file, "rt") as lines:
        for line in lines:
            query, _, passage, _, score, _ = line.split()
            run[query][passage] = float(score)
    runs.append(dict(run))
loaded = time.perf_counter()
cells = 0
for qrels in labels:
    for level in range(1, 6):
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(measures), relevance_level=level)
        for run in runs:
            cells += sum(len(values) for values in evaluator.evaluate(run).values())
json.dump([cells, loaded - started, time.perf_counter() - loaded], sys.stdout)
"""


IR_MEASURES = """
import json, sys
import ir_measures
from collections import defaultdict
qrels_files, run_files, _ = json.load(sys.stdin)
runs = [list(ir_measures.read_trec_run(file)) for file in run_files]
for file in qrels_files:
    qrels = list(ir_measures.read_trec_qrels(file))
    for level in range(1, 6):
        names = ["nDCG@10", "nDCG@20", f"P(rel={level})@10"]
        names += [f"{family}(rel={level})" for family in ("AP", "RR", "Rprec")]
        evaluator = ir_measures.evaluator(map(ir_measures.parse_measure, names), qrels)
        for run in runs:
            for _ in evaluator.iter_calc(run):
                pass
print("[]")
"""


def work(run_files: list[Path]) -> list:
    """What a foreign process is given: files of labels, files of runs, measures."""
    qrels = [DL19 / "qrels.txt", *(DL19 / "labels" / f"{f}.qrels" for f in DL19_JUDGES.values())]
    return [[str(file) for file in qrels], [str(file) for file in run_files], sorted(MEASURES)]


def apart(code: str, run_files: list[Path]) -> list:
    """What a program in a process of its own answers to `work`."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(work(run_files)),
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)


def pytrec(run_files: list[Path]) -> tuple[int, float, float]:
    """(cells, seconds to load, seconds in evaluate)."""
    return tuple(apart(PYTREC, run_files))


ONE = """
import sys
import pytrec_eval
qrels_file, run_file, level, *measures = sys.argv[1:]
with open(qrels_file) as labels, open(run_file) as entries:
    qrels, run = pytrec_eval.parse_qrel(labels), pytrec_eval.parse_run(entries)
qrels = {q: {p: max(0, label) for p, label in of.items()} for q, of in qrels.items()}
evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(measures), relevance_level=int(level))
evaluator.evaluate(run)
"""


def one_by_one(run_files: list[Path]) -> None:
    """As scripts around trec_eval do: a process for each run, file of labels and level."""
    qrels_files, run_files, measures = work(run_files)
    with tempfile.TemporaryDirectory() as place:
        for file in run_files:
            unzipped = Path(place) / "run"
            unzipped.write_bytes(gzip.decompress(Path(file).read_bytes()))
            for qrels in qrels_files:
                for level in "12345":
                    one = [sys.executable, "-c", ONE, qrels, str(unzipped), level, *measures]
                    subprocess.run(one, check=True)


# --- the two sides ------------------------------------------------------------------------------


def multiplied(runs: Path, folder: Path, times: int) -> list[Path]:
    """The runs under `times` names each; the first copy keeps its own."""
    folder.mkdir()
    files = []
    for file in sorted(runs.glob("*.run.gz")):
        for number in range(times):
            name = file.name if number == 0 else file.name.replace(".run", f"-{number}.run")
            target = folder / name
            target.symlink_to(file)
            files.append(target)
    return files


def compare(times: int) -> dict:
    """One comparison on every run under `times` names. Prints it; returns its figures."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        runs = multiplied(DL19 / "runs", folder / "runs", times)
        write_dl19_config(folder, ["runs/*.run.gz"])

        their_wall, their_cpu, (cells, load, evaluate) = timed(lambda: pytrec(runs))
        ingest_wall, ingest_cpu, _ = timed(lambda: command(folder, "ingest", "dl19"))
        labels_wall, labels_cpu, _ = timed(lambda: import_labels(folder))
        build_wall, build_cpu, printed = timed(lambda: command(folder, "build", "--json"))
        seconds = json.loads(printed)["seconds_by_node"]
        ours = our_cells(folder)
        others = {}
        if times == 1:
            others["ir_measures: whole process"] = timed(lambda: apart(IR_MEASURES, runs))
            others["a process per run, labels and level"] = timed(lambda: one_by_one(runs))
    models = {name: seconds[name] for name in MEASURE_MODELS}
    everything = sum(seconds.values())

    table = Table(title=f"{37 * times} runs, {cells:,} cells of pytrec_eval, {ours:,} of ours")
    for column in ("what", "wall s", "CPU s"):
        table.add_column(column, justify="left" if column == "what" else "right")

    def row(what: str, wall: float, cpu: float | None = None) -> None:
        table.add_row(what, f"{wall:.2f}", "" if cpu is None else f"{cpu:.2f}")

    row("pytrec_eval: whole process", their_wall, their_cpu)
    row("  reading files", load)
    row("  evaluate()", evaluate)
    for what, (wall, cpu, _) in others.items():
        row(what, wall, cpu)
    row("gradelake ingest: whole process", ingest_wall, ingest_cpu)
    row("gradelake import labels: three processes", labels_wall, labels_cpu)
    row("gradelake build: whole process", build_wall, build_cpu)
    for name, spent in models.items():
        row(f"  {name}", spent)
    row("  other models, seeds and data tests", everything - sum(models.values()))
    row("  start-up of Python and dbt, publishing", build_wall - everything)
    console.print(table)
    ours_wall, ours_cpu = ingest_wall + build_wall, ingest_cpu + build_cpu
    ratios = {
        "evaluate() / measure models": evaluate / sum(models.values()),
        "pytrec_eval / ingest + first build, wall": their_wall / ours_wall,
        "pytrec_eval / ingest + first build, CPU": their_cpu / ours_cpu,
    }
    for what, (_, cpu, _) in others.items():
        ratios[f"{what} / ingest + first build, CPU"] = cpu / ours_cpu
    for what, ratio in ratios.items():
        console.print(f"{what}: {ratio:.1f}x")
    of = f"{37 * times} runs"
    note(f"{of}, ingest", ingest_cpu)
    note(f"{of}: pytrec_eval / ingest and first build", their_cpu / ours_cpu)
    note(f"{of}: evaluate() / measure models", evaluate / sum(models.values()))
    console.print()
    return {"wall": their_wall, "ours": ours_wall, "models": sum(models.values())}


def our_cells(folder: Path) -> int:
    query = "select count(*) as n from topic_scores"
    return int(command(folder, "sql", query, "--format", "csv").split()[1])


def main() -> None:
    if reason := missing_dl19():
        sys.exit(f"cannot run: {reason}")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=10, help="names per run in the second part")
    times = parser.parse_args().repeat
    # once, unmeasured: byte code and the disk's cache
    with gzip.open(next((DL19 / "runs").glob("*.gz"))) as warm:
        warm.read()
    one = compare(1)
    many = compare(times)
    console.print(
        f"{times} times the runs: pytrec_eval takes {many['wall'] / one['wall']:.1f} times as long,"
        f" ingest + first build {many['ours'] / one['ours']:.1f},"
        f" the measure models {many['models'] / one['models']:.1f}"
    )


if __name__ == "__main__":
    main()
