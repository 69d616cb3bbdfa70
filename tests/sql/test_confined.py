"""What `gradelake sql` and `gradelake.open().sql` let a statement do: read the lake, no more."""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import gradelake as api
from gradelake.open_lake import OpenLake
from gradelake.sql.ask import confined
from gradelake.sql.ask.shell.answers import Answers
from gradelake.sql.common.errors import BadInput, GradelakeError
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests import projects
from tests.command_line import gradelake
from tests.postgres_server import new_database, postgres_server
from tests.sql.small_lake import N_GRADES, file_of, small_lake
from tests.sql.terminal import Terminal

REFUSED = "is refused: only the lake is open, and read-only"

# {file}: somebody's file; {new}: one that is not there; {data}: a Parquet file of the lake;
# {folder}: the project; {catalog}: what attaches the lake for writing
STATEMENTS = r"""
copy (select 1) to '{file}'
copy (select 1) to '{folder}/gradelake.toml' (format csv)
copy (select 1) to '{data}' (format parquet)
copy (select 1 as a) to '{folder}/lake/data' (format parquet, partition_by a, overwrite true)
copy raw.grades from '{file}'
copy from database lake to memory
/* a query */ copy (select 1) to '{new}'
export database '{new}'
import database '{folder}'
attach '{new}'
attach 'file:{new}?mode=rwc' as other (type sqlite)
attach '{folder}/lake/catalog.sqlite' as other (type sqlite)
attach '{catalog}' as other (data_path '{folder}/lake/data/', override_data_path true)
attach ':memory:' as other
attach 'dbname=postgres' as other (type postgres)
detach lake
use memory
use __ducklake_metadata_lake
install httpfs
load httpfs
update extensions
pragma memory_limit='1GB'
set enable_external_access = true
set global threads = 1
set session search_path = 'memory'
set variable x = (select content from read_text('{file}'))
reset lock_configuration
create secret (type s3, key_id 'a', secret 'b')
drop secret gradelake
delete from raw.grades
insert into raw.grades from raw.grades
update raw.grades set grade = 0
merge into raw.grades using raw.grades as other on true when matched then delete
drop table raw.grades
drop schema raw cascade
alter table raw.grades drop column grade
create table mine as select 1
create table memory.main.mine as select 1
create view mine as select 1
create schema mine
create macro mine() as 1
create type mine as enum ('a')
create sequence mine
create index mine on raw.grades (grade)
comment on table raw.grades is 'mine'
delete from __ducklake_metadata_lake.ducklake_data_file
create temp macro mine() as table from read_text('{file}')
create temp macro mine(x) as (select content from read_text(x))
create temporary function mine(x) as getenv(x)
create temp sequence mine
create temp type mine as enum (select content from read_text('{file}'))
create temp table mine (a int)
create temp table mine as from read_text('{file}')
create temp table if not exists mine as with a as (from read_csv('{file}')) from a
create temp view mine(a) as select content from read_text('{file}')
create or replace temp view mine as (select * from sqlite_scan('{folder}/lake/catalog.sqlite', 'x'))
create temp table "mine as select 1" as from read_text('{file}')
create temp table mine as pivot (from read_text('{file}')) on filename using count(*)
call lake.merge_adjacent_files()
checkpoint
vacuum
analyze
begin
prepare mine as select * from read_text('{file}')
execute mine
deallocate mine
explain copy (select 1) to '{new}'
explain analyze delete from raw.grades
explain (analyze, format json) select content from read_text('{file}')
explain analyze create table mine as select 1
explain analyze create temp table mine as from read_text('{file}')
describe select * from read_text('{file}')
summarize from read_csv('{file}')
show tables from __ducklake_metadata_lake
describe __ducklake_metadata_lake.ducklake_table
select * from (describe from read_csv('{file}'))
from '{file}'
from '{data}'
from '{folder}/lake/data/**/*.parquet'
from "{file}"
select * from '{folder}/gradelake.toml'
select (from '{file}')
select * from raw.grades, '{file}'
select 1 where exists (from '{file}')
with a as (from '{file}') from a
with recursive a as (select 1 as n union all select n + 1 from a, '{file}') from a
table '{file}'
from read_text('{file}')
from READ_TEXT('{file}')
from "read_text"('{file}')
from main.read_text('{file}')
from system.main.read_text('{file}')
from read_text /* of */ ('{file}')
from read_text('{folder}' || '/gradelake.toml')
from lake.set_option('encrypted', 'true')
from range((select count(*) from glob('/etc/*')))
select * from range(1), lateral (from read_text('{file}'))
select unnest((select list(content) from read_text('{file}')))
select 1 order by (select content from read_text('{file}'))
select count(*) filter ((select content from read_text('{file}')) = '') from raw.grades
select list_transform([1], lambda x: x + (select count(*) from glob('/etc/*')))
select 1 limit (select count(*) from glob('/etc/*'))
select 1 union all select count(*) from glob('/etc/*')
values ((select content from read_text('{file}')))
from (values ((select content from read_text('{file}')))) as a
from raw.grades as g join read_text('{file}') as t on true
from raw.grades anti join read_text('{file}') on true
from raw.grades positional join read_text('{file}')
from query('delete from raw.grades')
from query_table('{file}')
from query_table(['raw.grades', '{file}'])
from histogram('{file}', a)
from json_execute_serialized_sql(json_serialize_sql('from read_text(''{file}'')'))
select json_serialize_plan('from read_text(''{file}'')')
from postgres_query('__ducklake_metadata_lake', 'select pg_read_file(''/etc/passwd'')')
from __ducklake_metadata_lake.ducklake_data_file
from __DUCKLAKE_METADATA_LAKE.main.ducklake_data_file
from "__ducklake_metadata_lake".pg_catalog.pg_authid
from duckdb_databases
from pg_catalog.pg_settings
select getenv('HOME')
select "getenv"('HOME')
select list_transform(['HOME'], lambda x: getenv(x))
select current_setting('temp_directory')
pivot (from read_text('{file}')) on filename using count(*)
pivot raw.grades on grade using any_value(getenv('HOME'))
pivot raw.grades on grade using "getenv"('HOME')
pivot raw.grades on grade using count(*) -- ' \n, count(getenv('HOME'))
pivot __ducklake_metadata_lake.ducklake_table on table_name using count(*)
pivot duckdb_databases on path using count(*)
with a as (from read_text('{file}')) pivot a on filename using count(*)
create table mine as pivot raw.grades on grade using count(*)
unpivot (from read_text('{file}')) on content, size
pivot (from read_text('{file}')) on filename in ('a') using count(*)
/* /* */ delete from raw.grades -- */ explain select 1
explain --\r analyze delete from raw.grades
create temp table mine as select 1; delete from raw.grades
select 1; copy (select 1) to '{new}'
explain select 1; delete from raw.grades
pivot raw.grades on grade using count(*); delete from raw.grades
from read_text\u00a0('{file}')
pivot raw.grades on grade using count\u00a0(*), getenv\u00a0('HOME')
""".strip().splitlines()
ESCAPES = {r"\r": "\r", r"\n": "\n", r"\u00a0": "\u00a0"}


@pytest.fixture(
    scope="module", params=["SQLite", pytest.param("PostgreSQL", marks=pytest.mark.slow)]
)
def project(request, tmp_path_factory) -> Iterator[Project]:
    """A small lake on each kind of catalog, with somebody's file beside it."""
    folder = tmp_path_factory.mktemp("confined")
    (folder / "file.csv").write_text("a,b\n1,secret\n")
    if request.param == "SQLite":
        yield small_lake(folder)
        return
    with postgres_server() as setting:
        catalog = new_database(setting, "confined")
        yield small_lake(projects.project(folder, lake={"catalog": catalog}).folder)


@pytest.fixture(scope="module")
def opened(project) -> Iterator[OpenLake]:
    with api.open(project.file) as lake:
        yield lake


def filled_in(statement: str, project: Project) -> str:
    for escape, character in ESCAPES.items():
        statement = statement.replace(escape, character)
    place = project.catalog or f"sqlite:{project.lake_path}/catalog.sqlite"
    return statement.format(
        file=project.folder / "file.csv",
        new=project.folder / "new",
        data=file_of(project, "grades"),
        folder=project.folder,
        catalog=f"ducklake:{place}",
    )


@pytest.fixture(scope="module")
def live(project) -> Iterator[Lake]:
    with Lake.live(project) as lake:
        yield lake


def state(live: Lake) -> tuple[dict[Path, str], int, int]:
    """All files beside the lake and of it, and how much the lake holds."""
    files = {
        file: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in live.project.folder.rglob("*")
        if file.is_file() and file.suffix not in (".sqlite-shm", ".sqlite-wal")
    }
    return files, live.newest_snapshot(), live.value("select count(grade) from lake.raw.grades")


def test_what_does_more_than_read_the_lake_is_refused_before_it_runs(opened, live):
    before, ran = state(live), []
    assert before[2] == N_GRADES
    for statement in STATEMENTS:
        try:
            opened.sql(filled_in(statement, live.project))
        except BadInput as error:
            if REFUSED in str(error) or (";" in statement and "one statement" in str(error)):
                continue
        ran.append(statement)
    assert ran == []
    assert state(live) == before


def test_no_source_of_rows_but_the_known_ones_is_open(opened, live):
    """Whatever functions DuckDB and its extensions bring."""
    before = state(live)
    connection = opened.sql("select 1") and opened._reading().connection
    found = connection.execute(
        "select distinct function_name, function_type like 'table%' from duckdb_functions() "
        "where function_type in ('table', 'table_macro', 'pragma')"
    ).fetchall()
    assert len(found) > 100
    for name, is_table in found:
        if is_table and name not in confined._SOURCES:
            with pytest.raises(BadInput, match=REFUSED):
                opened.sql(f"from {name}('x')")
        with pytest.raises(BadInput, match=REFUSED):
            opened.sql(f'call "{name}"()')
        if not is_table:
            with pytest.raises(BadInput, match=f"{REFUSED}|Parser Error"):
                opened.sql(f"pragma {name}")
    assert state(live) == before


def test_frames_of_python_are_no_tables(opened):
    import polars

    secret_frame = polars.DataFrame({"a": [1]})
    with pytest.raises(BadInput, match="secret_frame does not exist"):
        opened.sql("from secret_frame")
    assert secret_frame.height == 1


def test_an_unusual_space_hides_nothing(opened):
    for head in ("explain", "create temp table mine as", "explain create temp view mine as"):
        with pytest.raises(BadInput, match="unusual space"):
            opened.sql(f"{head} /* ' */ select '\u00a0'")
    assert opened.sql("select '\u00a0' as a").fetchall() == [("\u00a0",)]


def test_duckdb_itself_is_closed_where_a_statement_would_get_past(project):
    """The second wall: these are run without being judged."""
    with api.open(project.file) as lake:
        connection = lake.sql("select 1") and lake._reading().connection
        for statement in (
            "copy (select 1) to '{new}'",
            "from read_text('{file}')",
            "from glob('/etc/*')",
            "from '{file}'",
            "attach '{new}'",
            "install httpfs",
            "load spatial",
            "set enable_external_access = true",
            "set lock_configuration = false",
            "set allowed_directories = ['/']",
            "delete from raw.grades",
            "delete from __ducklake_metadata_lake.ducklake_data_file",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(filled_in(statement, project))
        assert not (project.folder / "new").exists()
        with pytest.raises(duckdb.PermissionException):
            lake.sql("select 1 as a").write_csv(str(project.folder / "new"))


# --- what goes on working -------------------------------------------------------------------------


READ = [
    "select count(*) from raw.grades where grade >= $least",
    "from lake.raw.grades select grade where grade >= $least limit 1",
    "with a as (from raw.grades), b as materialized (from a) from b where grade >= $least",
    "with recursive a as (select 1 as n union all select n + 1 from a where n < 3) from a",
    "select * from raw.grades at (version => 3)",
    "from lake.snapshots()",
    "select unnest(range(3)), generate_series(1, 2), random(), now(), uuid()",
    "select * from unnest([1, 2]) as t(a), lateral (select a + 1)",
    "select list_transform([1, 2], lambda x: x + 1), [x for x in [1, 2]], struct_pack(a := 1)",
    "select key, value from json_each('{\"a\": 1}')",
    "select sum(grade) over (partition by query_id order by grade) from raw.grades",
    "select columns(c -> c like 'g%') from raw.grades",
    "table raw.grades",
    "describe raw.grades",
    "from (describe raw.grades)",
    "summarize raw.grades",
    "show tables from lake.raw",
    "show databases",
    "-- why?\nexplain /* it */ analyze select count(grade) from raw.grades",
    "explain (analyze, format json) select 1",
    "explain (select 1) union (select 2)",
    "from duckdb_columns() limit 1",
    "-- it's a pivot\npivot raw.grades on grade using count(*) as n group by query_id",
    "PIVOT (from raw.grades where query_id <> 'a/b') ON grade USING sum (grade)",
    "from (pivot raw.grades on grade using count(*))",
    "unpivot (select 1 as a, 2 as b) on a, b",
]  # fmt: skip


def test_what_reads_the_lake_runs(opened):
    for statement in READ:
        given = {"least": 0} if "$" in statement else {}
        assert opened.sql(statement, **given).fetchall(), statement


def test_temporary_tables_and_views_can_be_made(project):
    statements = """
    create temp table mine as select * from raw.grades;
    /* a view */ create or replace temporary view "a view" (n) -- of it
        as select count(*) from mine;
    create temp table if not exists "a.b" as (with a as (from "a view") from a);
    explain create temp table other as from mine;
    create temp table wide as pivot mine on grade using count(*);
    select n from "a view";
    """
    done = gradelake(project.folder, "sql", "--format", "csv", given=statements)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-2:] == ["n", str(N_GRADES)]
    for told in ("create temp table mine (a int)", "create temp macro mine() as 1"):
        refused = gradelake(project.folder, "sql", told, code=2).stderr
        assert "CREATE TEMP TABLE or VIEW ... AS" in refused


def test_a_session_reads_the_next_release(project):
    with Lake.published(project) as lake:
        confined.prepare(lake, allow_files=False)
        Answers(lake, "csv").read_newest()
        assert lake.value("select count(grade) from raw.grades") == N_GRADES
        with pytest.raises(duckdb.PermissionException):
            lake.rows("from glob('/etc/*')")


# --- every way in, and the way out ----------------------------------------------------------------


@pytest.mark.slow
def test_every_way_in_is_closed(project, tmp_path):
    toml = project.file.read_text()
    told = f"copy (select 1) to '{project.file}'"
    assert REFUSED in gradelake(project.folder, "sql", told, code=2).stderr
    assert REFUSED in gradelake(project.folder, "sql", told, "--live", code=2).stderr
    for statements in (f"{told};", f"select 1;\n{told};", f".format csv\n{told}"):
        assert REFUSED in gradelake(project.folder, "sql", given=statements, code=2).stderr
    with Terminal(project.folder, XDG_CACHE_HOME=str(tmp_path)) as shell:
        shell.ask(f"{told};", "is refused")
        assert "42" in shell.ask("select 6 * 7 as answer;", "42")
    with pytest.raises(GradelakeError, match=REFUSED), api.open(project.file) as lake:
        lake.sql(told)
    assert project.file.read_text() == toml


def test_files_are_open_where_somebody_says_so_and_are_told_of(project, tmp_path):
    """What the statements above would do, if they ran."""
    folder = tmp_path / "copy"
    shutil.copytree(project.folder, folder)
    allowed = ("sql", "--allow-files", "--live")
    done = gradelake(folder, *allowed, f"copy (select 7 as a) to '{folder}/file.csv'", code=2)
    assert "--allow-files: statements may read and write files" in done.stderr
    assert (folder / "file.csv").read_text() == "a\n7\n"
    assert "7" in gradelake(folder, *allowed, f"from '{folder}/file.csv'").stdout
    with api.open(folder, allow_files=True) as lake:
        assert "files open" in repr(lake)
        assert lake.sql(f"from read_csv('{folder}/file.csv')").fetchall() == [(7,)]
    if project.on_postgres:
        return  # the copy's catalog is that of the others
    statements = filled_in(
        "attach '{catalog}' as other (data_path '{folder}/lake/data/', override_data_path true);"
        "delete from other.raw.grades;",
        Project.read(folder / "gradelake.toml"),
    )
    gradelake(folder, *allowed, given=statements)
    with Lake.live(Project.read(folder / "gradelake.toml")) as live:
        assert live.value("select count(grade) from lake.raw.grades") == 0
