"""What dbt parsed for one lake is given to every later run, for as long as it would be the same."""

import os
from pathlib import Path

import pytest

from gradelake.sql.build import parsed
from gradelake.sql.build.changes import DBT_PROJECT
from gradelake.sql.build.parsed import Shared

FILE = "partial_parse.msgpack"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "gradelake"


@pytest.fixture(scope="module")
def target(demo) -> Path:
    """A folder with a parse, as dbt writes it."""
    kept = max(parsed.cache_folder().glob(f"*-{FILE}"), key=lambda file: file.stat().st_mtime)
    (demo.parent / "parse").mkdir(exist_ok=True)
    (demo.parent / "parse" / FILE).write_bytes(kept.read_bytes())
    return demo.parent / "parse"


def test_what_one_run_parsed_the_next_is_given(target):
    assert Shared(DBT_PROJECT, "definitions", []).manifest() is None
    Shared(DBT_PROJECT, "definitions", []).keep(target)
    manifest = Shared(DBT_PROJECT, "definitions", []).manifest()
    assert "model.gradelake.topic_scores" in manifest.nodes
    assert "model.gradelake.topic_scores" in manifest.flat_graph["nodes"], "what models see"


@pytest.mark.parametrize(
    "changed",
    [
        (DBT_PROJECT, "other definitions", []),
        (Path("/elsewhere/dbt_project"), "definitions", []),
        (DBT_PROJECT, "definitions", ["--vars", "{a: 1}"]),
        (DBT_PROJECT, "definitions", ["--vars={a: 1}"]),
        (DBT_PROJECT, "definitions", ["--no-partial-parse"]),
    ],
)
def test_nothing_is_given_to_what_would_be_parsed_otherwise(target, changed):
    Shared(DBT_PROJECT, "definitions", []).keep(target)
    assert Shared(*changed).manifest() is None


def test_what_was_parsed_with_other_settings_is_not_kept(target, cache):
    Shared(DBT_PROJECT, "definitions", ["--vars", "{a: 1}"]).keep(target)
    assert not cache.exists()


def test_a_kept_file_that_is_damaged_is_parsed_anew(target, tmp_path):
    (tmp_path / FILE).write_bytes(b"damaged")
    Shared(DBT_PROJECT, "definitions", []).keep(tmp_path)
    assert Shared(DBT_PROJECT, "definitions", []).manifest() is None


def test_only_the_newest_few_are_kept(target, cache):
    for number in range(7):
        Shared(DBT_PROJECT, f"definitions {number}", []).keep(target)
        for file in cache.iterdir():  # time passes
            os.utime(file, (file.stat().st_mtime - 10,) * 2)
    assert len(list(cache.iterdir())) == 4
    assert Shared(DBT_PROJECT, "definitions 0", []).manifest() is None
    assert Shared(DBT_PROJECT, "definitions 6", []).manifest()


def test_where_nothing_can_be_kept_dbt_parses(target, tmp_path, monkeypatch):
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    shared = Shared(DBT_PROJECT, "definitions", [])
    shared.keep(target)
    assert shared.manifest() is None
