"""The lake: made, migrated, written in whole transactions, opened again."""

import re
import shutil
import subprocess
import sys
import textwrap
import time
from dataclasses import replace

import duckdb
import polars as pl
import pytest

from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake import connection, migrate
from gradelake.sql.lake.connection import cursor_of, lock_file
from gradelake.sql.lake.keys import KEYS
from gradelake.sql.lake.lock import file_lock, lock_holder
from gradelake.sql.lake.migrate import applied, migrations
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.raw_tables import RawTable, raw_tables
from tests import projects
from tests.command_line import gradelake
from tests.edits import edit, write_edits
from tests.sql.small_lake import publish, small_lake


@pytest.fixture
def project(tmp_path) -> Project:
    made = projects.project(tmp_path)
    Lake.create(made).close()
    return made


def queries(*ids: str) -> pl.DataFrame:
    return pl.DataFrame(
        [(("c"), query_id, f"text of {query_id}", None, None) for query_id in ids],
        schema=dict.fromkeys(
            ["collection", "query_id", "text", "description", "narrative"], pl.String
        ),
        orient="row",
    )


# tables and columns that migrations since the first schema add
NEWER = {"retrievals"}
LATER = {("imported_scores", "query_id"), ("judgments", "gain")}


def stored(lake: Lake) -> dict[tuple[str, str], tuple]:
    """Type and nullability of each raw column, by table and name."""
    rows = lake.rows(
        "select table_name, column_name, data_type, is_nullable from duckdb_columns() "
        "where database_name = 'lake' and schema_name = 'raw'"
    )
    return {row[:2]: row[2:] for row in rows}


def test_a_new_lake_has_every_table_as_it_is_declared(project):
    with Lake.live(project) as lake:
        columns = stored(lake)
    assert {key: about for key, about in columns.items() if key[0] != "schema_migrations"} == {
        (table, column): (type_.upper(), declared.rules[column].get("optional", False))
        for table, declared in raw_tables().items()
        for column, type_ in declared.types.items()
    }
    assert all(
        set(key) <= declared.types.keys()
        for key, declared in zip(KEYS.values(), raw_tables().values(), strict=True)
    )


def test_making_a_lake_again_changes_nothing(project):
    with Lake.create(project) as lake:
        assert lake.value("select max(snapshot_id) from lake.snapshots()") == 1
        assert applied(lake) == migrations()[-1][0]


def test_a_lake_of_a_newer_gradelake_is_refused(project):
    with Lake.writer(project) as lake, lake.transaction("test") as transaction:
        transaction.run(
            "insert into {lake}.raw.schema_migrations values (999, 'future', now()::timestamp)"
        )
    with pytest.raises(WorkFailed, match="raw schema 999"):
        Lake.writer(project)


def test_a_transaction_lands_whole_with_its_message_and_ledger(project):
    with Lake.writer(project) as lake:
        with lake.transaction("ingest", "c") as transaction:
            assert transaction.insert("queries", queries("q1", "q2")) == 2
            transaction.record("c/queries", "abc", 2)
            transaction.say(queries=2)
        with lake.transaction("again") as transaction:
            assert transaction.recorded("c/queries") == "abc"
        message, author, kind = lake.rows(
            "select commit_message, author, json_extract_string(commit_extra_info, '$.kind') "
            "from lake.snapshots() order by snapshot_id desc limit 1"
        )[0]
    assert (message, kind) == ("ingest c: 2 queries", "ingest")
    assert author


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_in_a_transaction_leaves_nothing(project, error):
    with Lake.writer(project) as lake:

        def interrupted():
            with lake.transaction("test") as transaction:
                transaction.insert("queries", queries("q1"))
                transaction.record("c/queries", "abc", 1)
                raise error

        with pytest.raises(error):
            interrupted()
        assert lake.value("select count(*) from lake.raw.queries") == 0
        assert lake.value("select count(*) from lake.raw.ledger") == 0
        assert lake.value("select max(snapshot_id) from lake.snapshots()") == 1
        with lake.transaction("test") as transaction:  # and the next one works
            transaction.insert("queries", queries("q1"))
        assert lake.value("select count(query_id) from lake.raw.queries") == 1


def test_rows_that_break_the_contract_do_not_reach_the_lake(project):
    from gradelake.sql.common.problems import BadRows

    with Lake.writer(project) as lake:
        for bad in (queries("q1", "q1"), queries("")):
            with pytest.raises(BadRows), lake.transaction("test") as transaction:
                transaction.insert("queries", bad)
        assert lake.value("select count(*) from lake.raw.queries") == 0


def test_there_must_be_a_lake_to_open(tmp_path):
    project = projects.project(tmp_path)
    for opening in (Lake.writer, Lake.live, Lake.published):
        with pytest.raises(BadInput, match="no lake here yet") as error:
            opening(project)
        assert "gradelake ingest" in error.value.hint


# --- the writer's lock ---------------------------------------------------------------------------

HOLD = """
    import sys, time
    from pathlib import Path
    from gradelake.sql.lake.lock import file_lock
    with file_lock(Path(sys.argv[1]), "holding"):
        print("held", flush=True)
        time.sleep(60)
"""


@pytest.fixture
def holder(project):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLD), str(lock_file(project))],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_one_writer_at_a_time_and_the_other_is_told_who(project, holder):
    told = []
    with (
        pytest.raises(WorkFailed, match=rf"holding \(process {holder.pid}, since"),
        file_lock(lock_file(project), "me", wait=False),
    ):
        pass
    assert "holding" in lock_holder(lock_file(project))

    def kill_when_told(message):
        told.append(message)
        holder.kill()

    with file_lock(lock_file(project), "me", tell=kill_when_told):
        pass
    assert len(told) == 1
    assert re.match(r"waiting for holding \(process \d+", told[0])


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("disk I/O error", "Is the disk full? "),
        ("Current transaction is aborted", "Is it locked by another program (an SQLite shell"),
        ("not a database", "Run `gradelake doctor`"),
    ],
)
def test_a_catalog_that_cannot_be_opened_says_what_may_be_behind_it(
    project, monkeypatch, words, asked
):
    def attach(*_):
        raise duckdb.TransactionException(f"Failed to probe DuckLake metadata: {words}")

    monkeypatch.setattr(connection, "_attached", attach)
    with pytest.raises(WorkFailed, match=words) as refused:
        Lake.live(project)
    assert refused.value.hint.startswith(asked)
    assert refused.value.hint.endswith("Run `gradelake doctor` for details.")


def test_the_lock_of_a_killed_process_is_free(project, holder):
    holder.kill()
    holder.wait()
    with file_lock(lock_file(project), "me", wait=False):
        assert lock_holder(lock_file(project)) is not None
    assert lock_holder(lock_file(project)) is None


def test_a_process_passes_through_a_lock_it_holds(project):
    with file_lock(lock_file(project), "outer"):
        with file_lock(lock_file(project), "inner", wait=False):
            pass
        assert lock_holder(lock_file(project)) is not None, "still held by the outer one"


WRITE = """
    import sys
    import polars as pl
    from gradelake.sql.common.project import Project
    from gradelake.sql.lake.opening import Lake
    who, n = sys.argv[2], int(sys.argv[3])
    with Lake.writer(Project.find(sys.argv[1])) as lake:
        for turn in range(n):
            with lake.transaction(f"writer {who}") as transaction:
                have = lake.value("select count(*) from lake.raw.queries")
                row = {"collection": who, "query_id": f"{turn}", "text": f"{have}",
                       "description": None, "narrative": None}
                transaction.insert("queries", pl.DataFrame(
                    [row], schema=dict.fromkeys(row, pl.String)))
"""


@pytest.mark.slow
def test_three_writers_at_once_lose_nothing_and_see_each_others_rows(project):
    turns = 15
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITE), str(project.file), who, str(turns)]
        )
        for who in "abc"
    ]
    assert [writer.wait(120) for writer in writers] == [0, 0, 0]
    with Lake.live(project) as lake:
        rows = lake.rows("select collection, query_id, text from lake.raw.queries")
    assert sorted(row[:2] for row in rows) == sorted(
        (who, str(turn)) for who in "abc" for turn in range(turns)
    )
    # each transaction read, under the lock, exactly what was committed before it
    assert sorted(int(text) for *_, text in rows) == list(range(3 * turns))


def test_times_in_the_lake_are_utc_without_a_zone():
    now = utc_now()
    assert now.tzinfo is None
    assert abs(now.timestamp() - time.mktime(time.gmtime())) < 5


def test_an_older_lake_gets_what_was_declared_since_and_ends_as_a_new_one(
    project, monkeypatch, tmp_path
):
    """The first schema, brought up to this one and to one made up: a column that says what a grade
    cost, and a table."""
    older, known, declared = projects.project(tmp_path / "older"), migrations(), raw_tables()
    first = {
        name: replace(
            table, types={key: table.types[key] for key in table.types if (name, key) not in LATER}
        )
        for name, table in declared.items()
        if name not in NEWER
    }
    monkeypatch.setattr(migrate, "raw_tables", lambda: first)
    monkeypatch.setattr(migrate, "migrations", lambda: known[:1])
    with Lake.create(older) as lake, lake.transaction("ingest") as transaction:
        transaction.insert("queries", queries("q1"))
    grades = declared["grades"]
    now = declared | {
        "grades": replace(
            grades,
            types=grades.types | {"cost": "double"},
            rules=grades.rules | {"cost": {"optional": True}},
        ),
        "notes": RawTable([], {"note": "varchar"}, {"note": {}}),
    }
    added = """
        alter table raw.grades add column cost double;
        create table raw.notes (note varchar not null);
    """
    newest = known[-1][0] + 1
    monkeypatch.setattr(migrate, "raw_tables", lambda: now)
    monkeypatch.setattr(migrate, "migrations", lambda: [*known, (newest, "cost", added)])
    newer = projects.project(tmp_path / "newer")
    with Lake.writer(older) as old, Lake.create(newer) as new:
        assert stored(old) == stored(new)
        assert ("grades", "cost") in stored(old)
        assert [applied(lake) for lake in (old, new)] == [newest] * 2
        assert old.column("select query_id from lake.raw.queries") == ["q1"]
        assert f"migration {newest:03d} cost" in old.column(
            "select commit_message from lake.snapshots()"
        )


def test_a_lake_that_came_to_the_first_schema_by_migrations_opens_as_it_is(project):
    with Lake.writer(project) as lake, lake.transaction("test") as transaction:
        transaction.run(
            "insert into {lake}.raw.schema_migrations "
            "select number, 'earlier', now()::timestamp from range(1, 9) as _(number)"
        )
        before = lake.newest_snapshot() + 1  # with this commit
    with Lake.writer(project) as lake:
        assert applied(lake) == migrations()[-1][0]
        assert lake.newest_snapshot() == before


def test_a_lake_made_before_the_first_release_is_refused_whoever_opens_it(tmp_path):
    old = small_lake(tmp_path / "old")
    with Lake.writer(old) as lake:
        with lake.transaction("test") as transaction:
            transaction.run("update {lake}.raw.schema_migrations set name = 'raw'")
        publish(lake, "r2")
    for opened in (Lake.live, Lake.published, Lake.writer):
        with pytest.raises(WorkFailed, match=r"this lake was made before Gradelake 0\.1\.0"):
            opened(old)


def test_pandas_is_hidden_from_the_thread_that_asks_and_from_no_other():
    code = """
import threading
from gradelake.sql.lake.connection import without_pandas
with without_pandas():
    try:
        import pandas
    except ModuleNotFoundError:
        print("hidden")
    other = threading.Thread(target=lambda: print(__import__("pandas").__name__))
    other.start()
    other.join()
import pandas
print(pandas.__name__)
"""
    run = [sys.executable, "-c", code]
    assert subprocess.run(run, check=True, capture_output=True, text=True).stdout.split() == [
        "hidden",
        "pandas",
        "pandas",
    ]


@pytest.mark.slow
def test_a_result_of_many_rows_ends_though_one_thread_finds_it(graded_demo, tmp_path):
    """Four versions of the rubric are wanted, more than a MB; read from a cursor, too."""
    shutil.copytree(graded_demo, tmp_path / "demo")
    project = Project.find(tmp_path / "demo")
    with Lake.live(project) as lake:
        items = lake.objects("select bank, item_id, query_id from lake.raw.rubric_items limit 4")
    write_edits(project.folder, *(edit(n, "drop", **item) for n, item in enumerate(items, 1)))
    gradelake(project.folder, "build")
    for opened in (Lake.live(project), Lake.published(project)):
        with opened as lake:
            for connection in (lake.connection, cursor_of(lake.connection)):
                connection.execute("select * from lake.marts.wanted_grades")
                assert len(connection.fetchall()) > 10_000
