"""Readers need neither a lock nor write access, nor Gradelake. (Beside writers: test_faults.py.)"""

import json
import os
import shutil
import subprocess
import sys
import textwrap

import pytest

from tests.command_line import gradelake
from tests.reading import published


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_who_may_not_write_the_folder_can_read_the_lake(demo):
    """Modules are imported first: an unprivileged user may not reach this Python's own folder."""
    script = textwrap.dedent(
        f"""
        import os, sys
        from gradelake.sql.common.project import Project
        from gradelake.sql.lake.opening import Lake
        from gradelake.sql.lake.connection import connect
        import duckdb, encodings.idna, json
        from gradelake.sql.lake import extensions
        from gradelake.sql.releases import publishing
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
    expected = published(demo).rows("select count(*), sum(score) from lake.marts.leaderboard")[0]
    assert json.loads(count) == pytest.approx(list(expected))
    assert (refused, no_write) == ("refused", "no write permission")


@pytest.mark.slow
def test_a_moved_lake_still_reads_and_writes(demo, tmp_path):
    first = shutil.copytree(demo, tmp_path / "first")
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
