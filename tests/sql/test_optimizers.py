"""What DuckDB's optimizers must not change: the answer."""

import duckdb
import pytest

from gradelake.sql.build import dbt_plugin
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import connect, cursor_of, join_as_written, open_duckdb
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.tiers import CAMPAIGN, first_of

# Two arms of a UNION ALL over one filtered left join: the first has a row, the second none.
MADE = """
    create temp table judged as select false as relevant;
    create temp table labels as select 'a' as label;
"""
ONE_ROW = """
    select count(*)
    from (
        select * from judged left join labels on true
        where not (not relevant and substring(label from -4294967296) <> label)
        union all
        select * from judged left join labels on true
        where (not relevant and substring(label from -4294967296) <> label) is null
    )
"""


def counted(connection: duckdb.DuckDBPyConnection) -> int:
    connection.execute(MADE)
    return connection.execute(ONE_ROW).fetchall()[0][0]


def test_duckdb_itself_still_answers_wrongly():
    """Once this fails, take `_ANSWERS_WRONGLY` out of sql/lake/connection.py."""
    assert counted(duckdb.connect()) == 0


def set_to_join_as_written() -> duckdb.DuckDBPyConnection:
    connection = open_duckdb()
    join_as_written(connection)
    return connection


def dbts() -> duckdb.DuckDBPyConnection:
    config: dict[str, str] = {}
    dbt_plugin.Plugin.update_connection_config(None, None, config)
    return duckdb.connect(config=config)


@pytest.mark.parametrize(
    "opened", [open_duckdb, connect, lambda: cursor_of(connect()), set_to_join_as_written, dbts]
)
def test_two_arms_over_one_join_are_counted(opened):
    """And no connection fetches or loads an extension by itself."""
    connection = opened()
    assert counted(connection) == 1
    for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
        assert connection.execute(f"select current_setting('{setting}')").fetchall() == [(False,)]


def test_what_people_type_is_answered_rightly(demo):
    typed = gradelake(demo, "sql", "--format", "csv", given=f"{MADE}{ONE_ROW};").stdout
    assert typed.split()[-1] == "1"


RELATIONS = "select schema_name, {0}_name from duckdb_{0}s() where database_name = 'lake'"


def hashes(folder, **settings: str) -> dict[str, tuple]:
    """Rows of each relation of a release, as their number and a hash of them all. Sums of floats
    depend on their order in the last digits."""
    with Lake.published(Project.find(folder)) as lake:
        for name, value in settings.items():
            lake.connection.execute(f"set {name} = '{value}'")
        found = {}
        for schema, relation in sorted(
            row for kind in ("table", "view") for row in lake.rows(RELATIONS.format(kind))
        ):
            name = f"lake.{schema}.{relation}"
            columns = ", ".join(
                f'round("{column}", 9)' if kind in ("DOUBLE", "FLOAT") else f'"{column}"'
                for column, kind, *_ in lake.rows(f"describe {name}")
            )
            found[name] = lake.rows(f"select count(*), bit_xor(hash({columns})) from {name}")[0]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("lake", first_of(1, "graded_demo", "dl19", mark=CAMPAIGN))
def test_every_relation_is_the_same_without_optimizers(lake, request):
    folder = request.getfixturevalue(lake)
    assert len(usual := hashes(folder)) > 150
    every = open_duckdb().execute("select string_agg(name) from duckdb_optimizers()").fetchall()
    assert hashes(folder, disabled_optimizers=every[0][0]) == usual
