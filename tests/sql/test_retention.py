"""Tidying a lake: what stays reads as it did when it was published, and what nobody needs goes."""

import json
import os
import random
import shutil
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import duckdb
import pytest

from gradelake.sql.build import changes
from gradelake.sql.common import console
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import METADATA, catalog_file, data_path, release_file
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.compaction import merge_small_files
from gradelake.sql.operations.upkeep.retention import Maintained, maintain
from gradelake.sql.releases import data_files, keeping, publishing
from tests import projects
from tests.command_line import run_apart
from tests.projects import rows
from tests.sql import small_lake

pytestmark = pytest.mark.slow


def at_once(project: Project, n_releases: int = 14) -> Project:
    """The project with settings by which nothing stays that nobody needs."""
    return replace(project, keep_days=0, keep_releases=n_releases)


def project_in(folder: Path, **settings: str) -> Project:
    made = projects.project(folder, lake=settings)
    Lake.create(made).close()
    return made


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> Path:
    return project_in(tmp_path_factory.mktemp("empty")).folder


@pytest.fixture
def project(empty, tmp_path) -> Project:
    shutil.copytree(empty, tmp_path, dirs_exist_ok=True)
    return Project.find(tmp_path)


def add_queries(lake: Lake, first: int, n: int) -> None:
    ids = [f"q{i}" for i in range(first, first + n)]
    texts = [f"text {i}" for i in range(first, first + n)]
    with lake.transaction("test") as transaction:
        transaction.insert("queries", rows("queries", collection="c", query_id=ids, text=texts))


publish = partial(small_lake.publish, made_from={"definitions": "d"})


WRITTEN = ("queries", "ledger", "pipeline_runs", "board", "parts")


def contents(
    lake: Lake, catalog: str = "lake", at: int | None = None, tables: tuple[str, ...] = WRITTEN
) -> dict[str, tuple]:
    """What the tables of an open lake hold: how many rows, and a hash over all their columns."""
    version = "" if at is None else f"at (version => {at})"
    found = {}
    for table in tables:
        schema = "marts" if table in ("board", "parts") else "raw"
        try:
            query = f"select count(*), sum(hash({table})) from {catalog}.{schema}.{table} {version}"
            found[table] = lake.rows(query)[0]
        except duckdb.CatalogException:
            continue  # not there yet
    return found


def on_disk(project: Project) -> set[str]:
    folder = Path(data_path(project))
    return {str(file.relative_to(folder)) for file in folder.rglob("*.parquet")}


def do_something(lake: Lake, chance: random.Random, counter: list[int]) -> None:
    """One commit or two: rows appended or deleted, a table rebuilt as dbt does it, a kept part."""
    what = chance.choice(["append", "append", "append", "delete", "rebuild", "part"])
    n = chance.choice([1, 3, 15, 60])  # up to 10 rows stay in the catalog
    if what == "append":
        add_queries(lake, counter[0], n)
        counter[0] += n
        return
    with lake.transaction("test") as transaction:
        if what == "delete":
            transaction.run(
                "delete from {lake}.raw.queries where hash(query_id, ?) % 100 < ?",
                counter[0],
                chance.choice([1, 8, 60]),
            )
        elif what == "rebuild":
            transaction.run(
                "create table {lake}.marts.board__tmp as "
                "select query_id, text from {lake}.raw.queries"
            )
            transaction.run("drop table if exists {lake}.marts.board")
            transaction.run("alter table {lake}.marts.board__tmp rename to board")
        else:
            part = chance.randrange(3)
            transaction.run(
                "create table if not exists {lake}.marts.parts (part integer, value varchar)"
            )
            transaction.run("delete from {lake}.marts.parts where part = ?", part)
            transaction.run(
                "insert into {lake}.marts.parts select ?, query_id from {lake}.raw.queries", part
            )


def rounds_of_work(project: Project, seed: int, n_rounds: int) -> None:
    """Releases read what they held when published, whatever is merged, expired and deleted."""
    chance, counter, held = random.Random(seed), [0], {}
    n_merged = n_held = 0
    for turn in range(n_rounds):
        with Lake.writer(project) as lake:
            for _ in range(chance.randint(1, 6)):
                do_something(lake, chance, counter)
            for _ in range(2):  # files of this release that are merged after it
                add_queries(lake, counter[0], 30)
                counter[0] += 30
            publish(lake, f"r{turn}")
            held[f"r{turn}"] = contents(lake)
            if turn == 1:
                keeping.keep(lake, "r1")
            for _ in range(chance.randint(0, 2)):
                do_something(lake, chance, counter)
            now = contents(lake)
        done = maintain(at_once(project, 3), merge_from=2, flush_from=8)
        n_merged, n_held = n_merged + done.files_merged, n_held + done.files_held
        with Lake.live(project) as lake:
            found = {r.name: r for r in publishing.available(project, lake.connection)}
            expected = {f"r{n}" for n in range(max(0, turn - 2), turn + 1)} | {"r1"}
            assert found.keys() == expected & held.keys()
            assert contents(lake) == now, f"seed {seed}, round {turn}"
            needed = data_files.known(lake.connection) | set(keeping.files_of_all(lake))
            for name, release in found.items():
                where = f"seed {seed}, round {turn}, release {name}"
                publishing.attach_release(lake.connection, project, name, name)
                assert contents(lake, name) == held[name], where
                assert contents(lake, at=release.snapshot) == held[name], where
        assert on_disk(project) == needed, f"seed {seed}, round {turn}"
    assert n_merged > 0
    assert project.on_postgres or n_held > 0, "no release read a file that was merged away"


def test_every_release_that_stays_reads_as_when_it_was_published(project):
    rounds_of_work(project, seed=1, n_rounds=4)


def test_on_postgres_too(catalog, tmp_path):
    rounds_of_work(project_in(tmp_path, catalog=catalog), seed=2, n_rounds=3)


def merged_away(lake: Lake) -> list[str]:
    """Two files that release r1 reads, merged into another one since."""
    for first in (0, 20):
        add_queries(lake, first, 20)
    publish(lake, "r1")
    before = data_files.known(lake.connection)
    merge_small_files(lake, 2)
    publish(lake, "r2")
    gone = sorted(before - data_files.known(lake.connection))
    assert len(gone) == 2
    return gone


def schedule(lake: Lake, hours_ago: float) -> None:
    """As if every file had been of no use for so long."""
    lake.rows(
        f"update {METADATA}ducklake_files_scheduled_for_deletion set schedule_start = ?",
        f"{datetime.now(UTC) - timedelta(hours=hours_ago):%Y-%m-%d %H:%M:%S.%f}+00",
    )


def test_a_file_goes_a_day_after_its_last_release_not_before(project):
    with Lake.writer(project) as lake:
        files = merged_away(lake)
        schedule(lake, hours_ago=100)
        assert maintain(project).files_held == 2, "r1 reads them"
        assert on_disk(project) >= set(files)

        schedule(lake, hours_ago=100)
        keeping.drop(lake, "r1")  # a reader may have attached it a moment ago
        done = maintain(project)
        assert (done.files_held, done.files_waiting, done.files_deleted) == (0, 2, 0)
        # DuckLake compares days only: at 23 hours it would delete them on most of a day
        schedule(lake, hours_ago=23)
        assert maintain(project).files_deleted == 0
        schedule(lake, hours_ago=25)
        size = sum((Path(data_path(project)) / file).stat().st_size for file in files)
        done = maintain(project)
        assert done.files_deleted == 2
        assert done.bytes_freed >= size
        assert not on_disk(project) & set(files)
        assert maintain(project) == Maintained(bytes_freed=0), "there is nothing left to do"
    with Lake.published(project) as lake:
        assert contents(lake)["queries"][0] == 40


def test_tidying_does_not_import_pandas(project):
    with Lake.writer(project) as lake:
        merged_away(lake)
    done = run_apart(project.folder, "lake", "tidy", "--json", PYTHONPROFILEIMPORTTIME="1")
    assert json.loads(done.stdout)["files_held"] == 2
    assert "duckdb" in done.stderr
    assert "pandas.core" not in done.stderr


def test_orphans_go_after_a_day_unless_a_release_reads_them(project):
    folder = Path(data_path(project)) / "raw" / "queries"
    with Lake.writer(project) as lake:
        add_queries(lake, 0, 20)
        publish(lake, "r1")
    shutil.copy(catalog_file(project), older := project.folder / "older.sqlite")
    with Lake.writer(project) as lake:
        add_queries(lake, 20, 20)
        publish(lake, "r2")
    held = on_disk(project)
    # the working catalog is lost, and restored from before r2: it does not know r2's files
    for file in project.lake_path.glob("catalog.sqlite*"):
        file.unlink()
    shutil.copy(older, catalog_file(project))
    with pytest.raises(WorkFailed, match=r"later than the working catalog.+nothing was deleted"):
        maintain(at_once(project))
    with Lake.writer(project) as lake:
        publish(lake, "r3")
        keeping.drop(lake, "r2")  # a reader may have it open still
    for name in ("old", "young"):
        (folder / f"ducklake-{name}.parquet").write_bytes(b"of a killed writer")
    long_ago = time.time() - 90_000
    for file in folder.glob("*.parquet"):
        os.utime(file, (long_ago, long_ago))
    os.utime(folder / "ducklake-young.parquet")
    done = maintain(replace(project, keep_days=1))
    assert done.orphans_deleted == 1
    assert on_disk(project) == held | {"raw/queries/ducklake-young.parquet"}


def test_what_a_killed_build_left_goes_and_staged_grades_stay(project):
    (project.lake_path / "releases").mkdir()
    left = [project.lake_path / "releases" / "r1.writing", project.lake_path / "published.writing"]
    staged = project.lake_path / "grading" / "g" / "chunk.parquet"
    staged.parent.mkdir(parents=True)
    for file in (*left, staged):
        file.write_bytes(b"x")
    maintain(at_once(project))
    assert [file.exists() for file in (*left, staged)] == [False, False, True]


def test_interrupted_anywhere_it_loses_nothing_and_the_next_time_finishes(project, monkeypatch):
    with Lake.writer(project) as lake:
        files = merged_away(lake)
    for step in ("merging", "dropping", "deleting"):

        def interrupt(words, step=step):
            if words.startswith(step):
                raise KeyboardInterrupt

        monkeypatch.setattr(console, "tell", interrupt)
        with pytest.raises(KeyboardInterrupt):
            maintain(at_once(project, 1))
        with Lake.published(project) as lake:
            assert lake.value("select count(distinct text) from lake.raw.queries") == 40
    monkeypatch.undo()
    (Path(data_path(project)) / files[0]).unlink()  # killed between a file and its row
    assert maintain(at_once(project, 1)).files_deleted == 2
    assert not on_disk(project) & set(files)
    with Lake.published(project) as lake:
        assert lake.value("select count(distinct text) from lake.raw.queries") == 40


def test_a_release_whose_build_died_before_publishing_is_forgotten(project):
    with Lake.writer(project) as lake:
        for name in ("r1", "r2", "r3"):
            publish(lake, name)
        release_file(project, "r2").unlink()
        maintain(at_once(project))
        assert [r.name for r in publishing.listed(lake.connection)] == ["r1", "r3"]


def test_the_next_build_still_knows_what_changed_since_the_last(project):
    now = {"definitions": "d"}
    with Lake.writer(project) as lake:
        publish(lake, "r1")
        add_queries(lake, 0, 1)
        for _ in range(2):
            assert changes.since(lake, changes.last_build(lake), now) == ["source:raw.queries"]
            maintain(at_once(project))
        assert changes.last_build(lake).made_from == now


def test_rows_in_the_catalog_that_nobody_reads_any_more_go_from_it(project):
    with Lake.writer(project) as lake:
        for n in range(30):  # as a run of grading counts up
            with lake.transaction("test") as transaction:
                transaction.delete("ledger", target="t")
                values = ("t", "hash", n, "run", utc_now())
                transaction.run("insert into {lake}.raw.ledger values (?, ?, ?, ?, ?)", *values)
        maintain(at_once(project))
        assert lake.rows("select target, n_rows from lake.raw.ledger") == [("t", 29)]
    with closing(sqlite3.connect(catalog_file(project))) as catalog:
        tables = catalog.execute(
            "select i.table_name from ducklake_inlined_data_tables as i join ducklake_table as t "
            "using (table_id) where t.table_name = 'ledger'"
        ).fetchall()
        assert [catalog.execute(f"select count(*) from {t}").fetchone() for (t,) in tables] == [
            (1,)
        ]


@pytest.mark.fast
def test_a_wrong_setting_is_refused(tmp_path):
    for setting, message in {
        "keep_releases = 0": "keep_releases must be a whole number from 1",
        "keep_releases = 2.5": "keep_releases must be a whole number from 1",
        'keep_releases = "3"': "keep_releases must be a whole number from 1",
        "keep_releases = true": "keep_releases must be a whole number from 1",
        "keep_days = -1": "keep_days must be a number from 0",
        "keep_days = nan": "keep_days must be a number from 0",
        "least_share = 1.5": "least_share must be a number from 0 to 1",
    }.items():
        (tmp_path / "gradelake.toml").write_text(f"[lake]\n{setting}\n")
        with pytest.raises(BadInput, match=message):
            Project.find(tmp_path)


@pytest.mark.fast
def test_settings_have_defaults_and_days_may_be_a_fraction(tmp_path):
    project = projects.project(tmp_path, lake={"keep_days": 0.5})
    assert (project.keep_releases, project.keep_days, project.least_share) == (14, 0.5, 0.9)
