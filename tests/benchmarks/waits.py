"""What a person waits for: a query, a report, a night, a build after an edit or a new run.

On the demo, and on TREC DL 2019 with 37 runs, 430 questions and a grade for every pair of the pool
(by the lexical engine), with 97 runs for a night: whole processes, and a process that stays. No
model is called. What importing dbt costs in the same run, as builds once did, tells one machine
from another.

    python -m tests.benchmarks.waits
"""

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from rich.table import Table

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.benchmarks.aims import console, note
from tests.benchmarks.leaderboards import command, multiplied, timed
from tests.edits import edit, write_edits
from tests.lakes import make_graded_demo, write_dl19_config
from tests.places import DL19, REPOSITORY, missing_dl19
from tests.projects import LEXICAL

IMPORTS = "import dbt.cli.main, dbt.adapters.duckdb"
# the first build of a process pays for dbt's start; the second is what is measured
STAYS = """
import sys, time
from pathlib import Path
from gradelake.sql.build.building import build
from gradelake.sql.common.project import Project
from tests.benchmarks.waits import drop
project = Project.find(Path(sys.argv[1]))
for n in (2, 3):
    drop(project.folder, n)
    wall, cpu = time.perf_counter(), time.process_time()
    assert build(project, [], ["build"]).changed
    spent = time.perf_counter() - wall, time.process_time() - cpu
print(*spent)
"""


def drop(folder: Path, n: int, collection: str = "dl19") -> None:
    """Save edits that drop the first `n` items of a collection's questions."""
    query = f"select item_id from raw.rubric_items order by all limit {n}"
    items = json.loads(command(folder, "sql", query, "--format", "json"))
    write_edits(folder, *(edit(1, "drop", collection=collection, **item) for item in items))


def new_runs(folder: Path, n: int = 1) -> None:
    """Add runs of other names, with the entries of those that are there, in reverse."""
    for number, of in enumerate(sorted((DL19 / "runs").glob("*.run.gz"))[:n]):
        with gzip.open(of, "rt") as file:
            entries = [line.split() for line in file]
        with gzip.open(folder / "runs" / f"reversed{number}.run.gz", "wt") as file:
            for query, q0, passage, rank, score, _ in entries:
                file.write(f"{query} {q0} {passage} {rank} {-float(score)} reversed{number}\n")


def main() -> None:
    """Prepare the lakes (some minutes), and print a table of what each wait took."""
    table = Table(title="What a person waits for")
    for column in ("what", "wall s", "CPU s"):
        table.add_column(column, justify="left" if column == "what" else "right")

    def row(what: str, wall: float, cpu: float) -> None:
        table.add_row(what, f"{wall:.2f}", f"{cpu:.2f}")
        note(what, cpu)

    def measure(what: str, folder: Path, *arguments: str) -> None:
        row(what, *timed(lambda: command(folder, *arguments))[:2])

    imports = timed(lambda: subprocess.run([sys.executable, "-c", IMPORTS], check=True))
    row("importing dbt", *imports[:2])
    with tempfile.TemporaryDirectory() as place:
        demo = Path(place) / "demo"
        command(Path(place), "init", str(demo), "--demo")
        command(demo, "ingest", "demo")
        measure("first build of the demo", demo, "build")
        measure("build, nothing changed", demo, "build")
        measure("a query for one row", demo, "sql", "from leaderboard limit 1")
        for threads in (1, 2):
            spent = timed(partial(_read_boards, demo, threads))[:2]
            row(f"boards read twenty times, threads: {threads}", *spent)
        graded = Path(place) / "graded"
        make_graded_demo(graded)
        measure("report of the demo", graded, "report", "demo")
        for _ in range(2):
            command(graded, "nightly")
        measure("a night with nothing new", graded, "nightly")
        whole = Path(place) / "whole"
        whole.mkdir()
        for name in (".venv", "Makefile", "pyproject.toml", "requirements.lock"):
            (whole / name).symlink_to(REPOSITORY / name)
        make = ["make", "--silent", "--old-file", ".venv/.core", "demo"]
        wall, cpu, _ = timed(
            lambda: subprocess.run(make, cwd=whole, check=True, stdout=subprocess.DEVNULL)
        )
        row("make demo after the installation", wall, cpu)
        note("make demo after the installation, by the clock", wall)
        if reason := missing_dl19():
            console.print(f"without DL 2019: {reason}")
        else:
            _dl19(Path(place) / "dl19", measure, row)
            _nights(Path(place) / "nights", measure)
    console.print(table)


def _read_boards(folder: Path, threads: int) -> None:
    with Lake.live(Project.find(folder)) as lake:
        lake.connection.execute(f"set threads = {threads}")
        for _ in range(20):
            lake.rows("select count(*) from lake.marts.leaderboard")


def make_graded(folder: Path, runs: list[Path]) -> None:
    """A lake of these runs, with a grade for every pair of the pool."""
    write_dl19_config(folder, ["runs/*.run.gz"], **{"graders.lexical": LEXICAL})
    (folder / "runs").mkdir()
    for file in runs:
        (folder / "runs" / file.name).symlink_to(file.resolve())
    command(folder, "ingest", "dl19")
    bank = str(DL19 / "question_bank.jsonl.gz")
    command(folder, "import", "bank", "dl19", bank, "--name", "questions")
    command(folder, "grade", "dl19", "--grader", "lexical")


def _dl19(folder: Path, measure, row) -> None:
    make_graded(folder, list((DL19 / "runs").glob("*.run.gz")))
    measure("DL 2019: first build", folder, "build")
    drop(folder, 1)
    anew = shutil.copytree(folder, folder.parent / "anew", symlinks=True)
    measure("DL 2019: an item is dropped, build", folder, "build")
    measure("DL 2019: the same with --full-refresh", anew, "build", "--full-refresh")
    stays = [sys.executable, "-c", STAYS, str(folder)]
    spent = subprocess.run(stays, check=True, capture_output=True, text=True).stdout.split()
    wall, cpu = map(float, spent[-2:])
    row("DL 2019: the second edit in a process that stays", wall, cpu)
    new_runs(folder)
    measure("DL 2019: one new run, ingest", folder, "ingest", "dl19")
    measure("DL 2019: one new run, build", folder, "build")


def _nights(folder: Path, measure) -> None:
    folder.mkdir()
    make_graded(folder, multiplied(DL19 / "runs", folder / "all", 3)[:97])
    command(folder, "nightly")
    new_runs(folder, 3)
    measure("a night: 3 new systems beside 97", folder, "nightly")


if __name__ == "__main__":
    main()
