"""A lake is brought elsewhere: SQLite to PostgreSQL and back, and work goes on where it was."""

import shutil
import subprocess
import sys

import pytest

from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import REPLIES, connect
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.backup import backup
from gradelake.sql.operations.upkeep.lake_copy import copy, fingerprint
from gradelake.sql.operations.upkeep.restore import restore
from gradelake.sql.operations.upkeep.verify import verify
from tests.command_line import gradelake
from tests.postgres_server import new_database
from tests.projects import project, write
from tests.sql.small_lake import N_PASSAGES, file_of, graders, mark, overwritten, passages

pytestmark = pytest.mark.slow

# where the lake itself notes what was done, a copy has a row of its own
_OWN = {"schema_migrations", "pipeline_runs", "kept_releases"}


@pytest.fixture
def source(small, tmp_path) -> Project:
    shutil.copytree(small, tmp_path / "source")
    return Project.read(tmp_path / "source" / "gradelake.toml")


def raw_tables(of: Project) -> dict[str, tuple[int, int]]:
    """Table -> rows and fingerprint."""
    with Lake.live(of) as lake:
        tables = lake.rows(
            "select table_name from duckdb_tables() "
            "where database_name = 'lake' and schema_name = 'raw'"
        )
        return {
            table: fingerprint(lake.connection, f"lake.raw.{table}")
            for (table,) in tables
            if table not in _OWN
        }


@pytest.mark.fast
def test_a_fingerprint_knows_rows_and_not_their_order():
    with connect() as connection:

        def of(rows: str) -> tuple[int, int]:
            connection.execute(f"create or replace table t as from (values {rows}) as t(a, b)")
            return fingerprint(connection, "t")

        rows = of("(1, 'x'), (2, 'y')")
        assert rows == of("(2, 'y'), (1, 'x')")
        assert rows != of("(1, 'y'), (2, 'x')")
        assert rows != of("(1, 'x'), (2, null)")
        assert of("(1, 'x'), (1, 'x')") != of("(2, 'y'), (2, 'y')"), "pairs do not cancel out"
        assert of("(1, 'x'), (1, 'x'), (1, 'x')")[0] == 3


def test_a_backup_of_a_postgres_lake_has_every_row_that_its_catalog_holds(catalog, tmp_path):
    """Few rows are kept in the catalog itself, and PostgreSQL keeps them in other types."""
    ours = project(tmp_path / "ours", lake={"catalog": new_database(catalog, "odd")})
    with Lake.create(ours) as lake:
        with lake.transaction("odd") as transaction:
            transaction.run(
                "insert into {lake}.raw.rubric_items values ('c', 'b', 'q', '', 'i', 'question', "
                "'it''s \n \"ü\" \\ {{}}', ['a', 'b, c', null, '\"', ''], 0.1, 'manual', "
                "timestamp '2026-01-02 03:04:05.123456', 3)"
            )
            transaction.run(
                "insert into {lake}.raw.run_entries values "
                "('c', 's', 'q', 'p', null, -0.30000000000000004), ('c', 's', 'q', 'r', 2, 1e-300)"
            )
            transaction.extra |= {"release": "before"}
            transaction.say(rows=3)
        with lake.transaction("odd") as transaction:
            transaction.run("delete from {lake}.raw.run_entries where rank is null")
            transaction.insert("passages", passages(0, N_PASSAGES))
            transaction.say(rows_gone=1)
    done = backup(ours, tmp_path / "backup")
    assert done.releases == ["before"]
    theirs, _ = restore(tmp_path / "backup", tmp_path / "theirs")
    assert verify(theirs, deep=True).faults == []
    assert raw_tables(theirs) == raw_tables(ours)
    with Lake.live(theirs) as lake:
        assert lake.rows("select rank, score from lake.raw.run_entries") == [(2, 1e-300)]
        assert lake.value("select gold_answers from lake.raw.rubric_items") == [
            "a",
            "b, c",
            None,
            '"',
            "",
        ]
    with Lake.published(theirs) as lake:
        assert lake.release == "before"
        assert lake.value("select count(score) from lake.raw.run_entries") == 2
        assert lake.value("select count(text) from lake.raw.passages") == 0


def test_faults_of_a_postgres_lake_name_the_releases_that_are_hit(catalog, tmp_path):
    ours = project(tmp_path / "ours", lake={"catalog": new_database(catalog, "broken")})
    with Lake.create(ours) as lake:
        for release, first in (("one", 0), ("two", 100)):
            with lake.transaction("test") as transaction:
                transaction.insert("passages", passages(first, 20))
                transaction.extra |= {"release": release}
    assert verify(ours, deep=True).faults == []
    newest = max(
        (ours.lake_path / "data").rglob("*.parquet"), key=lambda file: file.stat().st_mtime_ns
    )
    newest.unlink()
    (fault,) = verify(ours).faults
    assert (fault.file, fault.hits) == (str(newest), ["live", "two"])


def test_an_interrupted_copy_goes_on_where_it_was(source, tmp_path):
    target = project(tmp_path / "target")
    script = (
        "import os, sys\nfrom pathlib import Path\n"
        "from gradelake.sql.common import console\n"
        "from gradelake.sql.common.project import Project\n"
        "from gradelake.sql.operations.upkeep import lake_copy\n"
        "def progress(what, tables, n):\n"
        "    for table in tables:\n"
        "        if table == 'raw.passages': os.kill(os.getpid(), 9)\n"
        "        yield table\n"
        "source, target = (Project.read(Path(file)) for file in sys.argv[1:])\n"
        "console.progress = progress\n"
        "lake_copy.copy(source, target, [])\n"
    )
    command = [sys.executable, "-c", script, str(source.file), str(target.file)]
    assert subprocess.run(command, check=False).returncode == -9
    # what is committed meanwhile is not mixed in
    with Lake.writer(source) as lake, lake.transaction("ingest") as transaction:
        transaction.insert("passages", passages(500, 12))
    done = copy(source, target, [])
    assert done.before["raw.graders"] == 1
    assert done.tables["raw.passages"] == 10
    assert done.later_commits == 1
    again = copy(source, target, [])
    assert (again.finished_before, again.tables) == (True, {})
    told = gradelake(source.folder, "lake", "copy", str(target.file), code=1)
    assert "commits in the source since: 1" in told.stderr


def test_a_table_that_differs_after_copying_is_told(source, tmp_path):
    target = project(tmp_path / "target")
    with Lake.writer(source) as lake, lake.transaction("ingest") as transaction:
        transaction.insert("passages", passages(500, 12))  # 10 and fewer have no file

    def stops(what, tables, n):
        for table in sorted(tables):
            yield table
            if table == "raw.passages":
                raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(console, "progress", stops)
        with pytest.raises(KeyboardInterrupt):
            copy(source, target, [])
    file = file_of(target, "passages")
    found = [file.read_bytes().find(mark(f"p{i:03d}").encode()) for i in range(500, 512)]
    overwritten(file, max(found), b"T")
    with pytest.raises(WorkFailed, match=r"raw\.passages differs .*: 22 rows, but other values"):
        copy(source, target, [])


def test_nothing_is_copied_into_a_lake_that_has_something_or_in_which_work_went_on(
    source, tmp_path
):
    target, done = project(tmp_path / "target"), project(tmp_path / "done")
    with Lake.create(target) as lake:  # as another program commits
        lake.connection.register("others", graders("other"))
        lake.connection.execute("insert into lake.raw.graders by name from others")
    copy(source, done, [])
    with Lake.writer(done) as lake, lake.transaction("grade") as transaction:
        transaction.insert("graders", graders("other"))
    for there in (target, done):
        before = raw_tables(there)
        with pytest.raises(BadInput, match="is not empty"):
            copy(source, there, [])
        assert raw_tables(there) == before


def test_a_lake_is_not_copied_onto_itself_or_its_files(source, tmp_path):
    (source.folder / "same.toml").write_text("# the same\n")
    with pytest.raises(BadInput, match="names the lake that would be copied"):
        copy(source, Project.read(source.folder / "same.toml"), [])
    (source.folder / "team.toml").write_text(
        '[lake]\ncatalog = "postgres:host=127.0.0.1 port=1 dbname=x"\n'
    )
    with pytest.raises(BadInput, match="both lakes would keep their files in"):
        copy(source, Project.read(source.folder / "team.toml"), [])


def test_seeds_and_waiting_replies_come_along_and_other_seeds_stay(source, tmp_path):
    target = project(tmp_path / "target", graders={"judge": {"engine": "lexical"}})
    for folder, name, text in (
        (source.folder, "label_policies.csv", "ours\n"),
        (source.folder, "ensembles.csv", "ours\n"),
        (target.folder, "ensembles.csv", "theirs\n"),
    ):
        write(folder / "seeds" / name, text)
    staged = source.lake_path / "grading" / "g"
    staged.mkdir(parents=True)
    (staged / f"chunk-2{REPLIES}").write_bytes(b"asked")
    done = copy(source, target, [])
    assert done.seeds == ["label_policies.csv"]
    assert (target.folder / "seeds" / "ensembles.csv").read_text() == "theirs\n"
    assert "ensembles.csv: differs" in done.warnings[0]
    assert done.chunks == 1
    assert (target.lake_path / "grading" / "g" / f"chunk-2{REPLIES}").read_bytes() == b"asked"


def test_settings_that_the_target_does_not_have_are_told(source, tmp_path):
    source.file.write_text("[graders.judge]\nengine = 'lexical'\n")
    done = copy(Project.read(source.file), project(tmp_path / "target"), [])
    assert "[graders] has not, or otherwise: judge" in done.warnings[0]
