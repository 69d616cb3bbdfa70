"""What `gradelake sql` and `gradelake.open().sql` let a statement do: read the lake, no more."""

import shutil
from collections.abc import Iterator

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
from tests.sql.escapes import REFUSED, STATEMENTS, filled_in, state
from tests.sql.small_lake import N_GRADES, small_lake
from tests.sql.terminal import Terminal


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


@pytest.fixture(scope="module")
def live(project) -> Iterator[Lake]:
    with Lake.live(project) as lake:
        yield lake


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
