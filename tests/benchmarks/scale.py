"""How time and memory grow with a lake: every command on a made-up collection of a chosen size.

Size 1 is 500 queries with 20 items each, 50 systems that rank 1,000 passages for each query, and a
grade for every item and passage: 25 million run entries, 500,000 passages, 10 million grades. The
number of queries grows with the size, all else stays. Equal sizes make equal files.

    python -m tests.benchmarks.scale 0.01
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.benchmarks.aims import note
from tests.benchmarks.leaderboards import command
from tests.benchmarks.waits import drop
from tests.projects import LEXICAL, USUAL, project

SYSTEMS, DEPTH, ITEMS = 50, 1000, 20


def make(folder: Path, queries: int) -> None:
    """Write the collection's files, its bank and its grades below `folder`."""
    chance = Random(queries)
    scale = USUAL | {"passages": "passages.jsonl", "judgments": None}
    ids = [f"q{n:05}" for n in range(queries)]
    files = {"topics.tsv": {q: f"what is {q} about" for q in ids}}
    project(folder, {"scale": scale}, {"lexical": LEXICAL}, files)
    (folder / "runs").mkdir()
    with (folder / "bank.csv").open("w") as bank:
        bank.write("query_id,item_id,kind,text\n")
        for q in ids:
            bank.writelines(f"{q},{q}/{n},question,what is {n} of {q}\n" for n in range(ITEMS))
    words = [f"{chance.randrange(16**5):05x}" for _ in range(4096)]
    with (folder / "passages.jsonl").open("w") as file:
        for q in ids:
            for passage_id, text in _passages(q, words):
                file.write(f'{{"passage_id": "{passage_id}", "text": "{text}"}}\n')
    for system in range(SYSTEMS):
        write_run(folder, f"system{system:02}", ids, chance)
    with (folder / "graded.jsonl").open("w") as file:
        for q in ids:
            entries = [_entry(q, chance) for _ in range(64)]
            paragraphs = (
                f'{{"paragraph_id": "{passage_id}", "text": "{text}", '
                f'"exam_grades": [{chance.choice(entries)}]}}'
                for passage_id, text in _passages(q, words)
            )
            file.write(f'["{q}", [{", ".join(paragraphs)}]]\n')


def write_run(folder: Path, system: str, queries: list[str], chance: Random) -> None:
    """Write a run that ranks every query's passages in an order of its own."""
    order = list(range(DEPTH))
    with (folder / "runs" / f"{system}.run").open("w") as file:
        for q in queries:
            chance.shuffle(order)
            file.writelines(
                f"{q} Q0 {q}p{passage:04} {rank} {DEPTH - rank} {system}\n"
                for rank, passage in enumerate(order, start=1)
            )


def _passages(query: str, words: list[str]) -> Iterator[tuple[str, str]]:
    start = int(query[1:]) * 31
    for n in range(DEPTH):
        at = (start + n * 7) % (len(words) - 60)
        yield f"{query}p{n:04}", f"{query} {n} {' '.join(words[at : at + 60])}"


def _entry(query: str, chance: Random) -> str:
    """An entry of the workbench's `exam_grades`: a rating of every item."""
    ratings = {f"{query}/{n}": chance.choice((0, 0, 0, 1, 2, 3, 4, 5)) for n in range(ITEMS)}
    return json.dumps(
        {
            "correctAnswered": [item for item, rating in ratings.items() if rating],
            "wrongAnswered": [item for item, rating in ratings.items() if not rating],
            "answers": [[item, str(rating)] for item, rating in ratings.items()],
            "llm": "made-up",
            "llm_options": {},
            "exam_ratio": sum(map(bool, ratings.values())) / ITEMS,
            "prompt_info": {"prompt_class": "Made", "is_self_rated": True},
            "self_ratings": [
                {"question_id": item, "self_rating": rating} for item, rating in ratings.items()
            ],
        }
    )


def measured(folder: Path, *arguments: str) -> tuple[float, float, float]:
    """(wall seconds, CPU seconds, GB at most) of one command line in a process of its own. What it
    says is printed where it fails."""
    started = time.perf_counter()
    with (folder / "output.txt").open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "gradelake", *arguments],
            cwd=folder,
            stdout=output,
            stderr=output,
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        print(f"failed: {' '.join(arguments)}: {(folder / 'output.txt').read_text()}")
    wall = time.perf_counter() - started
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6


def size_of(place: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def main() -> None:
    """Make a lake of the size that is asked for, and measure all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", type=float, help="1: 25 million run entries, 10 million grades")
    parser.add_argument(
        "--until", metavar="WHAT", help="stop after the row that begins so, such as: first build"
    )
    chosen = parser.parse_args()
    measure(chosen.size, chosen.until)


def measure(size: float, until: str | None = None) -> None:
    """Make a lake of a size, run the commands one after another, and print a table."""
    queries = max(1, round(500 * size))
    print(
        f"{queries:,} queries, {queries * SYSTEMS * DEPTH:,} run entries, "
        f"{queries * DEPTH * ITEMS:,} grades"
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(folder, queries)
        print(f"made {size_of(folder) / 1e6:,.0f} MB of files")
        print(f"{'':32}{'CPU s':>10}{'wall s':>10}{'GB at most':>12}{'lake, MB':>10}")
        for what, arguments in steps(folder, queries):
            wall, cpu, peak = measured(folder, *arguments)
            lake = size_of(folder / "lake") / 1e6
            print(f"{what:32}{cpu:10.1f}{wall:10.1f}{peak:12.2f}{lake:10,.0f}", flush=True)
            note(f"size {size:g}: {what}", cpu)
            if until and what.startswith(until):
                break


def steps(folder: Path, queries: int) -> Iterator[tuple[str, list[str]]]:
    """(what, command line), in order; what a step needs is done before it is handed out."""
    yield "ingest", ["ingest", "scale"]
    command(folder, "import", "bank", "scale", "bank.csv", "--name", "questions")
    yield "import grades", ["import", "grades", "scale", "graded.jsonl"]
    yield "first build", ["build"]
    yield "build, nothing changed", ["build"]
    drop(folder, 1, "scale")
    yield "build after an item is dropped", ["build"]
    ids = [f"q{n:05}" for n in range(queries)]
    write_run(folder, "newcomer", ids, Random("newcomer"))
    yield "ingest of one new system", ["ingest", "scale"]
    yield "build after a new system", ["build"]
    yield "plan", ["plan", "scale", "--grader", "lexical"]
    yield "export grades", ["export", "grades", "scale", "--output", "out.jsonl"]
    yield "verify", ["lake", "verify"]
    yield "backup", ["lake", "backup", "backup"]
    yield "report", ["report", "scale", "--grid-passages", "20"]


if __name__ == "__main__":
    main()
