"""Readers beside writers: what is published is whole, and needs neither a lock nor write access."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import textwrap
import time

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.conftest import gradelake

READS = int(os.environ.get("GRADELAKE_READS", "50"))  # 200 take two minutes longer

# A build in which one more system is in every mart: the marts of one build agree on its number,
# those of two builds do not.
AGREEMENT = """
    select
        (select count(distinct system) from lake.marts.topic_scores),
        (select count(distinct system) from lake.marts.leaderboard),
        (select count(distinct system) from lake.marts.leaderboard_v1),
        (select max(n_systems + len(left_out)) from lake.marts.leaderboard_correlation),
        (select count(distinct system) from lake.intermediate.int_ranked_entries)
"""


def read_until(folder, stop, results, published):
    project = Project.find(folder)
    while not stop.is_set():
        try:
            with Lake.published(project) if published else Lake.live(project) as lake:
                for _ in range(2):
                    results.put(("read", lake.rows(AGREEMENT)[0]))
                    time.sleep(0.2)  # leave the builds some of the machine
        except Exception as error:
            results.put(("error", repr(error)))


@pytest.mark.slow
def test_readers_never_meet_a_build_half_way(tmp_path, new_lake):
    folder = tmp_path / "lake with readers"
    gradelake(tmp_path, "init", str(folder), "--demo")
    shutil.rmtree(folder / "lake")
    new_lake(folder)
    runs = folder / "runs"
    waiting = sorted(runs.glob("*.run"))
    kept_back = {file.name: file.read_bytes() for file in waiting[2:]}
    for name in kept_back:
        (runs / name).unlink()
    gradelake(folder, "ingest", "demo")
    gradelake(folder, "build")

    context = multiprocessing.get_context("spawn")
    stop, results = context.Event(), context.Queue()
    readers = [
        context.Process(target=read_until, args=(folder, stop, results, True)) for _ in range(4)
    ]
    for reader in readers:
        reader.start()
    seen, reads, builds = set(), 0, 0
    deadline = time.monotonic() + 600
    names = list(kept_back)
    while (builds < 3 or reads < READS) and time.monotonic() < deadline:
        if builds < len(names):
            (runs / names[builds]).write_bytes(kept_back[names[builds]])
            gradelake(folder, "ingest", "demo")
        gradelake(folder, "build")
        builds += 1
        while not results.empty():
            kind, what = results.get()
            assert kind == "read", what
            reads += 1
            seen.add(what)
    stop.set()
    for reader in readers:
        reader.join(30)
        if reader.is_alive():
            reader.kill()

    assert reads >= READS
    assert builds >= 3
    mixed = [counts for counts in seen if len(set(counts)) > 1]
    assert not mixed, "a read saw marts of two builds"
    assert len(seen) >= 3, "the readers should have seen several releases"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_who_may_not_write_the_folder_can_read_the_lake(demo):
    """Modules are imported first: an unprivileged user may not reach this Python's own folder."""
    script = textwrap.dedent(
        f"""
        import os, sys
        from gradelake.sql.common.project import Project
        from gradelake.sql.lake.lake import Lake
        from gradelake.sql.lake.connection import connect
        import duckdb, encodings.idna, json
        from gradelake.sql.lake import extensions
        from gradelake.sql.releases import releases
        files = {{name: open(extensions.extension_file(name), "rb").read()
                 for name in ("ducklake", "sqlite_scanner")}}
        project = Project.find({str(demo)!r})
        import tempfile, pathlib
        place = pathlib.Path(tempfile.mkdtemp()); place.chmod(0o755)
        for name, content in files.items():
            (place / f"{{name}}.duckdb_extension").write_bytes(content)
        extensions.extension_file = lambda name: place / f"{{name}}.duckdb_extension"
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        lake = Lake.published(project)
        print(json.dumps(lake.rows("select count(*), sum(score) from lake.marts.leaderboard")[0]))
        try:
            lake.connection.execute("delete from lake.raw.queries")
        except duckdb.Error as error:
            print("refused")
        try:
            (project.lake_path / "mine").write_text("")
        except PermissionError:
            print("no write permission")
        """
    )
    for folder in (demo, *list(demo.parents)[:4]):
        if folder.stat().st_uid == 0 and folder != folder.parent:
            folder.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    count, refused, no_write = done.stdout.splitlines()
    with Lake.published(Project.find(demo)) as lake:
        expected = lake.rows("select count(*), sum(score) from lake.marts.leaderboard")[0]
    assert json.loads(count) == pytest.approx(list(expected))
    assert (refused, no_write) == ("refused", "no write permission")


def test_any_duckdb_client_can_attach_the_published_lake(demo):
    """The statement of the README, with nothing of Gradelake but the extension files."""
    import duckdb

    from gradelake.sql.lake import extensions

    connection = duckdb.connect()
    extensions.load(connection, "ducklake", "sqlite_scanner")
    connection.execute(f"attach 'ducklake:sqlite:{demo}/lake/published.sqlite' as lake (read_only)")
    best = connection.sql(
        "select system from lake.marts.leaderboard where label_set = 'assessor:human' "
        "and measure = 'nDCG@10' and level = 1 and rank = 1"
    ).fetchall()
    assert best == [("bm25_rm3",)]


@pytest.mark.slow
def test_a_moved_lake_still_reads_and_writes(demo, tmp_path):
    first = tmp_path / "first"
    shutil.copytree(demo, first)
    query = "select system, score from leaderboard where measure = 'AP' and level = 1 order by all"
    before = gradelake(first, "sql", query, "--format", "csv").stdout
    moved = tmp_path / "moved"
    first.rename(moved)
    assert gradelake(moved, "sql", query, "--format", "csv").stdout == before
    (moved / "runs" / "bm25.run").write_text("volcano-prediction Q0 p037 1 1.0 bm25\n")
    gradelake(moved, "ingest", "demo")
    gradelake(moved, "build")
    after = gradelake(moved, "sql", query, "--format", "csv").stdout
    assert after != before
    assert not first.exists()
