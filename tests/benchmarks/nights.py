"""Thirty nights: what an unattended lake costs as it grows.

TREC DL 2019 with seven of its runs (or as many systems as --beside says), three foreign judges and
430 questions. Each night three more systems arrive in the inbox: first the runs that are left, then
runs made of real ones by exchanging neighbours and replacing some passages (seeded). `gradelake
nightly` does the rest. The table shows for each night how long it took, what was graded, and what
the lake takes up. "CPU s" is the processor time of the night and its steps, without that of Ray's
own processes: it tells more than the clock where other work goes on beside.

    python -m tests.benchmarks.nights [--nights 30] [--beside 7]
"""

import argparse
import gzip
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.benchmarks.leaderboards import command, console
from tests.benchmarks.waits import GRADER
from tests.lakes import DL19_JUDGES, write_dl19_config
from tests.places import DL19, missing_dl19

A_NIGHT = 3
STEPS = ("ingest", "plan", "grade", "build", "release", "report", "tidy")
# thirty nights pass within an hour here, so that nothing is kept for its age
KEPT = "[lake]\nkeep_releases = 7\nkeep_days = 0\n"


def prepare(folder: Path, runs: list[Path]) -> None:
    """The lake before the first night: `runs` graded, a release published."""
    write_dl19_config(folder, [str(run) for run in runs])
    with (folder / "gradelake.toml").open("a") as file:
        file.write(f'inbox = "inbox"\n{GRADER}\n{KEPT}')
    command(folder, "ingest", "dl19")
    for judge, file in DL19_JUDGES.items():
        labels = str(DL19 / "labels" / f"{file}.qrels")
        command(folder, "import", "labels", "dl19", labels, "--judge", judge)
    bank = str(DL19 / "question_bank.jsonl.gz")
    command(folder, "import", "bank", "dl19", bank, "--name", "questions")
    command(folder, "grade", "dl19", "--grader", "lexical")
    command(folder, "build")


def made_of(run: Path, number: int) -> tuple[str, bytes]:
    """Name and lines of a system like a real one: neighbours exchanged, some passages replaced."""
    rng = random.Random(number)
    with gzip.open(run, "rt") as file:
        lines = [line.split() for line in file]
    by_query: dict[str, list[str]] = {}
    for query, _, passage, *_ in lines:
        by_query.setdefault(query, []).append(passage)
    every_passage = sorted({passage for passages in by_query.values() for passage in passages})
    name, text = f"made{number:03d}", []
    for query, passages in by_query.items():
        for at in range(len(passages) - 1):
            if rng.random() < 0.3:
                passages[at], passages[at + 1] = passages[at + 1], passages[at]
        for at in rng.sample(range(len(passages)), k=min(5, len(passages))):
            other = rng.choice(every_passage)
            if other not in passages:
                passages[at] = other
        text += [
            f"{query} Q0 {passage} {rank} {len(passages) - rank} {name}\n"
            for rank, passage in enumerate(passages, 1)
        ]
    return name, "".join(text).encode()


def arrive(inbox: Path, waiting: list[Path], originals: list[Path], night: int) -> None:
    """Three systems drop in, each with the marker that says it is whole."""
    inbox.mkdir(exist_ok=True)
    for nth in range(A_NIGHT):
        if waiting:
            run = waiting.pop(0)
            name, content = run.name.removesuffix(".run.gz"), gzip.decompress(run.read_bytes())
        else:
            number = night * A_NIGHT + nth
            name, content = made_of(originals[number % len(originals)], number)
        (inbox / f"{name}.run").write_bytes(content)
        (inbox / f"{name}.run.done").touch()


def taken_up(lake: Path) -> tuple[int, int, int]:
    """(data files, bytes of data files, bytes of catalogs)."""
    data = [file.stat().st_size for file in (lake / "data").rglob("*") if file.is_file()]
    catalogs = sum(file.stat().st_size for file in lake.rglob("*.sqlite"))
    return len(data), sum(data), catalogs


def cpu_seconds() -> float:
    """Of all processes that this one waited for, theirs included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Prepare the lake (some minutes), let the nights pass, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--beside", type=int, default=7, help="systems that are there before")
    chosen = parser.parse_args()
    if reason := missing_dl19():
        console.print(f"nights: {reason}")
        return
    originals = sorted((DL19 / "runs").glob("*.run.gz"))
    table = Table(
        "night",
        "systems",
        "pairs graded",
        "seconds",
        "CPU s",
        *STEPS,
        "data files",
        "data MB",
        "catalogs MB",
        title="Nights on TREC DL 2019",
    )
    wide = Console(width=140)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "nights"
        runs = originals[: chosen.beside]
        for number in range(len(runs), chosen.beside):
            name, content = made_of(originals[number % len(originals)], -number)
            runs.append(Path(place) / f"before_{name}.run")
            runs[-1].write_bytes(content)
        prepare(folder, runs)
        waiting = originals[chosen.beside :]
        for night in range(1, chosen.nights + 1):
            arrive(folder / "inbox", waiting, originals, night)
            started, cpu_before = time.perf_counter(), cpu_seconds()
            summary = json.loads(command(folder, "nightly", "--json").splitlines()[-1])
            seconds = time.perf_counter() - started
            spent: dict[str, float] = {}
            for step in summary["steps"]:
                kind = step["step"].removeprefix("lake ").split()[0]
                spent[kind] = spent.get(kind, 0) + step["seconds"]
            files, data, catalogs = taken_up(folder / "lake")
            table.add_row(
                str(night),
                str(chosen.beside + night * A_NIGHT),
                f"{summary['counts']['pairs']:,}",
                f"{seconds:.1f}",
                f"{cpu_seconds() - cpu_before:.1f}",
                *(f"{spent.get(kind, 0):.1f}" for kind in STEPS),
                str(files),
                f"{data / 1e6:.1f}",
                f"{catalogs / 1e6:.1f}",
            )
            console.print(f"night {night}: {seconds:.1f} s, {files} files, {data / 1e6:.1f} MB")
    wide.print(table)


if __name__ == "__main__":
    sys.exit(main())
