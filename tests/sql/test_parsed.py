"""What dbt parsed for one lake is given to every later run, for as long as it would be the same."""

import os
from pathlib import Path

import pytest

from gradelake.sql.build import changes, parsed
from gradelake.sql.build.parsed import Shared

FILE = "partial_parse.msgpack"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "gradelake"


@pytest.fixture(scope="module")
def target(demo) -> Path:
    """A folder with a parse, as dbt writes it."""
    kept = max(parsed.cache_folder().glob(f"*-{FILE}"), key=lambda file: file.stat().st_mtime)  # type: ignore[attr-defined]
    (demo.parent / "parse").mkdir(exist_ok=True)
    (demo.parent / "parse" / FILE).write_bytes(kept.read_bytes())
    return demo.parent / "parse"


def test_what_one_run_parsed_the_next_is_given_unless_it_would_be_parsed_otherwise(
    target, monkeypatch
):
    assert Shared("definitions", []).manifest() is None
    Shared("definitions", []).keep(target)
    manifest = Shared("definitions", []).manifest()
    assert "model.gradelake.topic_scores" in manifest.nodes
    assert "model.gradelake.topic_scores" in manifest.flat_graph["nodes"], "what models see"
    for definitions, arguments in (
        ("other definitions", []),
        ("definitions", ["--vars", "{a: 1}"]),
        ("definitions", ["--vars={a: 1}"]),
        ("definitions", ["--no-partial-parse"]),
    ):
        assert Shared(definitions, arguments).manifest() is None
    monkeypatch.setattr(changes, "DBT_PROJECT", Path("/elsewhere/dbt_project"))
    assert Shared("definitions", []).manifest() is None


def test_where_nothing_fit_can_be_kept_dbt_parses(target, cache, tmp_path, monkeypatch):
    Shared("definitions", ["--vars", "{a: 1}"]).keep(target)
    assert not cache.exists(), "other settings"
    (tmp_path / FILE).write_bytes(b"damaged")
    Shared("definitions", []).keep(tmp_path)
    assert Shared("definitions", []).manifest() is None
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    Shared("definitions", []).keep(target)
    assert Shared("definitions", []).manifest() is None


def test_only_the_newest_few_are_kept(target, cache):
    for number in range(7):
        Shared(f"definitions {number}", []).keep(target)
        for file in cache.iterdir():  # time passes
            os.utime(file, (file.stat().st_mtime - 10,) * 2)
    assert len(list(cache.iterdir())) == 4
    assert Shared("definitions 0", []).manifest() is None
    assert Shared("definitions 6", []).manifest()
