"""What a build takes for changed since the last one."""

import shutil
from pathlib import Path

import pytest

from gradelake.sql.build import changes
from gradelake.sql.common.clock import utc_now
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.retention import maintain
from tests.command_line import gradelake, run_apart
from tests.projects import project, rows
from tests.reading import live

NOW = {"definitions": "d", "rubric_edits": "e", "label_policies": "p"}


@pytest.fixture
def lake(tmp_path):
    """A lake open for writing, with one build."""
    with Lake.create(project(tmp_path)) as lake:
        build(lake, release="r1", made_from=NOW)
        yield lake


def build(lake: Lake, **extra) -> None:
    """Commit as a build does, without dbt."""
    with lake.transaction("build") as transaction:
        transaction.extra |= extra
        transaction.finish_run([])


def since(lake: Lake, now: dict[str, str] = NOW) -> list[str] | None:
    return changes.since(lake, changes.last_build(lake), now)


def add_a_query(lake: Lake) -> None:
    with lake.transaction("ingest") as transaction:
        transaction.insert("queries", rows("queries", collection="c", query_id="q", text="t"))


def test_raw_tables_and_seeds(lake):
    add_a_query(lake)
    assert since(lake) == ["source:raw.queries"]
    assert since(lake, NOW | {"rubric_edits": "other"}) == ["rubric_edits", "source:raw.queries"]
    build(lake, release="r2", made_from=NOW)
    assert since(lake) == []


def test_rows_that_were_taken_out(lake):
    add_a_query(lake)
    build(lake, release="r2", made_from=NOW)
    with lake.transaction("ingest") as transaction:
        transaction.delete("queries", collection="c")
    assert since(lake) == ["source:raw.queries"]


def test_what_commands_note_of_themselves_is_no_change(lake):
    with lake.transaction("nightly") as transaction:
        transaction.record("c/queries", "hash", 1)
        transaction.finish_run([])
        transaction.run("insert into {lake}.raw.kept_releases values ('r1', 'ann', ?)", utc_now())
    assert since(lake) == []


def test_tidying_is_no_change(lake):
    add_a_query(lake)
    build(lake, release="r2", made_from=NOW)
    maintain(lake.project, flush_from=1, merge_from=1)
    assert since(lake) == []


@pytest.mark.parametrize("kind", ["build", "migration", None])
def test_everything_may_have_changed_where_something_else_wrote(lake, kind):
    """A build of some models, dbt alone, a migration, another program."""
    if kind:
        with lake.transaction(kind) as transaction:
            transaction.run("create table {lake}.marts.t (a integer)")
    else:
        lake.rows("create table lake.marts.t (a integer)")
    assert since(lake) is None


def test_everything_changed_with_the_models_or_what_runs_them(lake):
    assert since(lake, NOW | {"definitions": "other"}) is None


def test_everything_is_new_before_the_first_build(tmp_path):
    with Lake.create(project(tmp_path)) as lake:
        assert since(lake) is None


def test_planning_a_query_of_an_empty_table_asks_the_catalog_nothing(lake):
    """DuckLake would ask it for each column of a table without statistics."""
    without = lake.rows(
        "select table_name from __ducklake_metadata_lake.ducklake_table "
        "left join __ducklake_metadata_lake.ducklake_table_stats using (table_id) "
        "where end_snapshot is null and record_count is null"
    )
    assert without == []
    add_a_query(lake)
    assert lake.rows("select min(query_id), max(text), count(*) from lake.raw.queries") == [
        ("q", "t", 1)
    ]


@pytest.fixture
def folder(demo, tmp_path) -> Path:
    return shutil.copytree(demo, tmp_path / "demo")


def test_a_build_after_which_nothing_changed_does_nothing(folder):
    before = gradelake(folder, "log", "--json").stdout
    assert gradelake(folder, "build").stdout == "nothing changed since r1\n"
    done = gradelake(folder, "build", "--json").stdout
    assert done == '{"changed": false, "release": "r1"}\n'
    assert gradelake(folder, "log", "--json").stdout == before


def test_it_does_not_import_dbt(folder):
    done = run_apart(folder, "build", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "duckdb" in imported
    assert not {"dbt", "pandas", "polars", "pandera"} & imported


def test_a_name_becomes_a_further_name_of_the_release(folder):
    gradelake(folder, "build", "--name", "deadline")
    boards = [
        gradelake(folder, "sql", "from leaderboard order by all", "--release", name).stdout
        for name in ("r1", "deadline")
    ]
    assert boards[0] == boards[1]
    assert gradelake(folder, "build").stdout == "nothing changed since deadline\n"


def test_a_build_that_died_before_it_published_is_published_by_the_next(folder):
    for file in ("releases/r1.sqlite", "published.sqlite"):
        (folder / "lake" / file).unlink()
    assert "nothing changed since r1" in gradelake(folder, "build").stdout
    assert gradelake(folder, "sql", "select count(*) > 0 from leaderboard").returncode == 0


@pytest.mark.slow
def test_a_full_refresh_builds_though_nothing_changed_and_all_it_writes_is_one_commit(folder):
    assert "published release r2" in gradelake(folder, "build", "--full-refresh").stdout
    kinds = live(folder).rows(
        "select json_extract_string(commit_extra_info, '$.kind') from lake.snapshots() "
        "order by snapshot_id desc limit 2"
    )
    assert kinds[0] == ("build",)
    touched = live(folder).value(
        "select len(flatten(map_values(changes))) from lake.snapshots() "
        "order by snapshot_id desc limit 1"
    )
    assert touched > 50
