"""Four readers and three writers on one lake, for minutes, on SQLite and on PostgreSQL.

Two writers import labels of judges of their own, again and again; the third ingests another run and
builds. Each reader opens the published lake and asks for a leaderboard. Nothing read may fail,
nothing written may be lost, and the marts of one read must be of one build. The slowest hundredth
of the reads is the result.

    python -m tests.benchmarks.crowd [--minutes 5]
"""

import argparse
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from rich.table import Table

from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.benchmarks.leaderboards import command, console
from tests.postgres_server import new_database, postgres_server

READERS = 4
LEADERBOARD = (
    "select system, score_4dp, rank from lake.marts.leaderboard "
    "where label_set = 'assessor:human' and measure = 'nDCG@10' and level = 1 order by rank"
)
# the marts of one build agree on how many systems there are, those of two builds do not
AGREEMENT = """
    select
        (select count(distinct system) from lake.marts.topic_scores),
        (select count(distinct system) from lake.marts.leaderboard),
        (select max(n_systems + len(left_out)) from lake.marts.leaderboard_correlation),
        (select count(distinct system) from lake.intermediate.int_ranked_entries)
"""


def read(folder: Path, stop, results) -> None:
    """Open, ask, close, again and again; (seconds to open, seconds to ask) or what went wrong."""
    project = Project.find(folder)
    while not stop.is_set():
        started = time.perf_counter()
        try:
            with Lake.published(project) as lake:
                opened = time.perf_counter()
                rows = lake.rows(LEADERBOARD)
                asked = time.perf_counter()
                counts = set(lake.rows(AGREEMENT)[0])
        except Exception as error:
            results.put(("failed read", repr(error)))
            continue
        if not rows or len(counts) > 1:
            results.put(("mixed read", f"{len(rows)} systems, {counts}"))
        results.put(("read", (opened - started, asked - opened)))
        time.sleep(0.1)


def import_labels(folder: Path, judge: str, stop, results) -> None:
    """Import a label for every judged pair, of one judge after the other."""
    pairs = [line.split() for line in (folder / "judgments.qrels").read_text().splitlines()]
    number = 0
    while not stop.is_set():
        number += 1
        name = f"{judge}{number}"
        rng = random.Random(name)
        labels = folder / f"{name}.qrels"
        labels.write_text("".join(f"{q} 0 {p} {rng.randint(0, 3)}\n" for q, _, p, _ in pairs))
        _write(folder, ("import", "labels", "demo", str(labels), "--judge", name), name, results)


def ingest_and_build(folder: Path, stop, results) -> None:
    """A new system each time, and a release with it."""
    lines = [line.split() for line in (folder / "runs" / "bm25.run").read_text().splitlines()]
    number = 0
    while not stop.is_set():
        number += 1
        name = f"more{number}"
        text = "".join(f"{q} Q0 {p} {r} {s} {name}\n" for q, _, p, r, s, _ in lines)
        (folder / "runs" / f"{name}.run").write_text(text)
        _write(folder, ("ingest", "demo"), name, results)
        _write(folder, ("build",), f"build with {name}", results)


def _write(folder: Path, arguments: tuple[str, ...], what: str, results) -> None:
    try:
        command(folder, *arguments)
    except Exception as error:
        results.put(("failed write", f"{what}: {getattr(error, 'stderr', error)}"))
    else:
        results.put(("wrote", what))


def lost(folder: Path, written: list[str]) -> list[str]:
    """Judges, systems and builds that a command said it had written, and that are not there."""
    project = Project.find(folder)
    with Lake.live(project) as lake:
        n_pairs = lake.value("select count(*) from lake.raw.judgments")
        judges = lake.rows(
            "select name, count(*) from lake.raw.grades "
            "inner join lake.raw.graders using (grader_id) group by name"
        )
        systems = lake.rows("select distinct system from lake.raw.run_entries")
    there = {judge for judge, n in judges if n == n_pairs} | {system for (system,) in systems}
    with Lake.published(project) as lake:
        in_release = lake.rows("select distinct system from lake.marts.leaderboard")
    there |= {f"build with {system}" for (system,) in in_release}
    return [what for what in written if what not in there]


def run(catalog: str, folder: Path, seconds: float) -> tuple[str, ...]:
    """One row of the table."""
    command(folder.parent, "init", str(folder), "--demo")
    if catalog:
        config = folder / "gradelake.toml"
        config.write_text(
            config.read_text().replace("[lake]\n", f'[lake]\ncatalog = "{catalog}"\n', 1)
        )
    with (folder / "gradelake.toml").open() as file:
        assert not catalog or "catalog" in file.read()
    command(folder, "ingest", "demo")
    command(folder, "build")
    context = multiprocessing.get_context("spawn")
    stop, results = context.Event(), context.Queue()
    crowd = [context.Process(target=read, args=(folder, stop, results)) for _ in range(READERS)]
    crowd += [
        context.Process(target=import_labels, args=(folder, judge, stop, results))
        for judge in ("ann", "bob")
    ]
    crowd.append(context.Process(target=ingest_and_build, args=(folder, stop, results)))
    for process in crowd:
        process.start()
    found: list[tuple] = []
    end = time.monotonic() + seconds
    while any(process.is_alive() for process in crowd):
        if time.monotonic() > end:
            stop.set()
        while not results.empty():
            found.append(results.get())
        time.sleep(0.2)
    for process in crowd:
        process.join()
    while not results.empty():
        found.append(results.get())

    written = [what for kind, what in found if kind == "wrote"]
    bad = [(kind, what) for kind, what in found if kind not in ("wrote", "read")]
    for kind, what in bad[:5]:
        console.print(f"{kind}: {what}")
    missing = lost(folder, written)
    if missing:
        console.print(f"lost: {missing[:5]}")
    opening, asking = zip(*(times for kind, times in found if kind == "read"), strict=True)
    return (
        "PostgreSQL" if catalog else "SQLite",
        f"{len(asking):,}",
        str(len(written)),
        str(len(bad)),
        str(len(missing)),
        *(f"{1000 * value:.0f}" for value in (*slowest(opening), *slowest(asking))),
    )


def slowest(seconds: tuple[float, ...]) -> tuple[float, float]:
    """(median, 99th percentile)."""
    return statistics.median(seconds), statistics.quantiles(seconds, n=100)[-1]


def main() -> None:
    """Both catalogs, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5)
    seconds = 60 * parser.parse_args().minutes
    table = Table(
        "catalog",
        "reads",
        "writes",
        "failed",
        "lost",
        "open: p50 ms",
        "p99 ms",
        "leaderboard: p50 ms",
        "p99 ms",
        title=f"{READERS} readers and 3 writers, {seconds / 60:g} minutes",
    )
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        table.add_row(*run("", Path(place) / "sqlite", seconds))
        server = stack.enter_context(postgres_server())
        catalog = new_database(server, "crowd")
        table.add_row(*run(catalog, Path(place) / "postgres", seconds))
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
