"""How much a connection may hold, and where the rest of a query goes."""

import re
from pathlib import Path

import duckdb
import polars as pl
import pytest

from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.connection import little_memory
from gradelake.sql.lake.keys import repeated
from gradelake.sql.lake.opening import Lake
from tests.projects import project


def lake_of(folder: Path, **settings: float) -> Lake:
    return Lake.create(project(folder, lake=settings))


def setting(connection, name: str) -> str:
    ((value,),) = connection.execute(f"select current_setting('{name}')").fetchall()
    return value


def gib(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"MiB": 1 / 1024, "GiB": 1, "TiB": 1024}[unit]


def test_by_default_half_of_the_machine_is_used(tmp_path):
    own = gib(setting(duckdb.connect(), "memory_limit"))  # 80% of what there is
    with lake_of(tmp_path) as lake:
        assert gib(setting(lake.connection, "memory_limit")) == pytest.approx(own / 1.6, rel=0.02)


def test_a_project_says_how_much_is_used(tmp_path):
    with lake_of(tmp_path, memory_gb=1.5) as lake:
        assert setting(lake.connection, "memory_limit") == "1.3 GiB"
    with pytest.raises(BadInput, match=r"gradelake.toml:2: \[lake\] memory_gb must be a number"):
        lake_of(tmp_path, memory_gb=0.1)


def test_what_streams_holds_little_and_the_limit_comes_back(tmp_path):
    with lake_of(tmp_path, memory_gb=400) as lake:
        before = setting(lake.connection, "memory_limit")
        with lake.transaction("import") as transaction:
            staged = transaction.staged("judgments")
            tenth = gib(setting(lake.connection, "memory_limit"))
            assert tenth == pytest.approx(gib(before) / 10, rel=0.01)
            assert (staged.n_rows, staged.keep_first("query_id")) == (0, 0)
            assert (tmp_path / "lake" / "staging").exists()
        assert setting(lake.connection, "memory_limit") == before
        assert not (tmp_path / "lake" / "staging").exists()
    with lake_of(tmp_path, memory_gb=0.5) as lake:
        before = setting(lake.connection, "memory_limit")
        with little_memory(lake.connection):
            assert setting(lake.connection, "memory_limit") == before


def test_long_texts_come_in_without_as_much_memory(tmp_path):
    """400 MB of them; DuckDB may hold half of that."""
    n, text = 80_000, "an answer that is long " * 230
    with lake_of(tmp_path) as lake, lake.transaction("import") as transaction:
        staged = transaction.staged("brought_along")
        lake.connection.execute("set memory_limit = '200MB'")
        for start in range(0, n, 1000):
            parts = [f"p{row}" for row in range(start, start + 1000)]
            rows = pl.DataFrame({"part": parts, "content": [part + text for part in parts]})
            same = {"collection": "c", "target": "t", "query_id": "q"}
            staged.add(rows.with_columns(**{name: pl.lit(one) for name, one in same.items()}))
        transaction.insert_from("brought_along", f"select * exclude (arrival) from {staged.view}")
        assert lake.value("select count(*) from lake.raw.brought_along") == n


def test_rows_of_one_key_become_one_wherever_they_stand(tmp_path):
    """More keys than are merged at once; those of one row stay as they are."""
    keys = [f"{n:04}" for n in range(2500)]
    rows = [*((key, "a") for key in keys), *((key, "b") for key in reversed(keys)), ("once", "c")]
    schema = {"key": pl.String, "content": pl.String}
    with lake_of(tmp_path) as lake, lake.transaction("import") as transaction:
        staged = transaction.staged("judgments", schema)
        staged.add(pl.DataFrame(rows, schema=schema, orient="row"))
        staged.merge("content", "+".join, "key")
        assert lake.rows("select key, content from staged_judgments order by key") == [
            *((key, "a+b") for key in keys),
            ("once", "c"),
        ]


def test_repeated_keys_are_found_in_memory_that_does_not_hold_all(tmp_path):
    """Grouping, DuckDB needs more than twice as much."""
    parts = [
        f"select 'query' || i // 50000 as q, 'passage' || i as p from range({n}) as r(i)"
        for n in (2_000_000, 5, 3)
    ]
    source = f"({' union all '.join(parts)})"
    settings = {"threads": "1", "memory_limit": "25MB", "temp_directory": str(tmp_path)}
    with duckdb.connect(config=settings) as connection:
        found = connection.execute(repeated("q, p", source)).fetchall()
        expected = connection.execute(
            "select hash('query0', 'passage' || i) from range(5) as r(i)"
        ).fetchall()
    assert sorted(found) == sorted(expected)


def test_what_is_too_much_for_memory_goes_to_the_lakes_folder_and_away(tmp_path):
    left = tmp_path / "lake" / ".spill-999999999"  # of a process that was killed
    with lake_of(tmp_path, memory_gb=0.5) as lake:
        lake.connection.execute("set memory_limit = '60MB'; set threads = 1")
        lake.connection.execute("create temp table big as select uuid() as id from range(6000000)")
        (spill,) = (tmp_path / "lake").glob(".spill-*")
        assert sum(file.stat().st_size for file in spill.iterdir()) > 1 << 20
        assert re.fullmatch(r"\.spill-[0-9]+", spill.name)
        left.mkdir()
    with lake_of(tmp_path):
        assert not [*(tmp_path / "lake").glob(".spill-*")]
