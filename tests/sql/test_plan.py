"""What dbt compiled once is given to every later build, for as long as it would be the same."""

import os
from pathlib import Path

import pytest

from gradelake.sql.build import building
from gradelake.sql.build import plan as plans
from gradelake.sql.build.changes import definitions
from gradelake.sql.build.plan import TEST, BuildPlan, Node, plan
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.lake.opening import Lake
from tests.projects import project


def node(name: str, *reads: str, kind: str = "table", generic: bool = False) -> Node:
    return Node(name, name, kind, "marts", name, "select 1", [*reads], {}, {}, generic)


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """An empty folder for what is kept, and a dbt that compiles two models."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(plans, "_compiled", lambda: [node("below", "above"), node("above")])
    return tmp_path / "cache" / "gradelake"


def not_again() -> list[Node]:
    raise AssertionError("dbt compiles again")


def test_what_was_compiled_is_kept_for_the_same_definitions_only(cache, monkeypatch):
    assert [*plan("d1").nodes] == ["above", "below"]
    monkeypatch.setattr(plans, "_compiled", not_again)
    assert plan("d1").nodes["below"] == node("below", "above")
    with pytest.raises(AssertionError, match="again"):
        plan("d2")


def test_where_nothing_fit_can_be_kept_dbt_compiles(cache, tmp_path, monkeypatch):
    plan("d1")
    (file,) = cache.iterdir()
    for damaged in (b"damaged", b'{"definitions": "d1", "nodes": [{"id": 1}]}'):
        file.write_bytes(damaged)
        assert len(plan("d1").nodes) == 2
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    assert len(plan("d1").nodes) == 2


def test_a_wheels_own_plan_serves_its_own_definitions_only(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(plans, "PACKAGED", tmp_path / "plan.json")
    plans.PACKAGED.write_bytes(plans.packed("d1", [node("alone")]))
    assert [*plan("d1").nodes] == ["alone"]
    assert [*plan("d2").nodes] == ["above", "below"]


def test_only_the_newest_few_are_kept(cache):
    for number in range(7):
        plan(f"d{number}")
        for file in cache.iterdir():  # time passes
            os.utime(file, (file.stat().st_mtime - 10,) * 2)
    assert {file.name for file in cache.iterdir()} == {f"d{n}-plan.json" for n in range(3, 7)}


def test_what_is_made_of_what():
    nodes = [
        node("board", "scores"),
        node("seed", "check", kind="seed_file"),
        node("scores", "entries", "seed"),
        node("entries", "raw", kind="view"),
        node("check", "raw"),
        node("key of entries", "entries", kind="test", generic=True),
        node("key of scores", "scores", kind="test", generic=True),
        node("names", "entries", kind="test"),
    ]
    made = BuildPlan(nodes)
    assert [*made.nodes][:2] == ["check", "seed"], "what is wrong in seeds is told first"
    assert made.above(["scores"]) == {"scores", "entries", "seed", "check"}
    assert made.below(["seed"]) == {"seed", "scores", "board", "key of scores"}
    assert made.below(["raw"]) == made.nodes.keys()
    with pytest.raises(BadInput, match="no model 'scorez'"):
        made.ids(["scorez"])


def test_the_models_as_dbt_compiled_them(demo):
    """`demo` was built with this plan."""
    nodes = plan(definitions()).nodes
    parts = [one for one in nodes.values() if one.kind == "parts"]
    (history,) = (one for one in nodes.values() if one.kind == "snapshot")
    seeds = [one for one in nodes.values() if one.kind == "seed_file"]
    views = {one.id for one in nodes.values() if one.kind == "view"}
    tested = {one.id: {*one.reads} for one in nodes.values() if one.kind == TEST and one.generic}
    assert len(tested) > 30
    assert not [test for test, reads in tested.items() if reads & views], "their tables' keys do"
    assert len(parts) > 5
    assert all(one.config["inputs"] in one.sql for one in parts)
    assert {"unique_key", "check_cols"} <= history.config.keys()
    assert len(seeds) == 14
    assert all(one.sql.count("/* the file */") == 2 for one in seeds)
    assert all(
        one.columns for one in nodes.values() if one.schema == "marts" and one.kind != "test"
    )


def test_rows_that_a_data_test_finds_stop_the_build_and_nothing_of_it_stays(tmp_path, monkeypatch):
    made = project(tmp_path)
    Lake.create(made).close()
    nodes = [node("above"), node("above_has_no_rows", "above", kind=TEST)]
    monkeypatch.setattr(building, "plan", lambda definitions: BuildPlan(nodes))
    with pytest.raises(WorkFailed, match="above_has_no_rows"):
        building.build(made, [], [], of_nothing=True)
    with Lake.live(made) as lake:
        tables = "select count(*) from duckdb_tables() where database_name = 'lake'"
        assert lake.value(f"{tables} and schema_name = 'marts'") == 0
