"""What dbt parsed for one lake is lent to the next one."""

import os
from pathlib import Path

import pytest

from gradelake.sql.build.parsed import Shared

PROJECT = Path("/somewhere/dbt_project")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "gradelake"


def lake(tmp_path: Path, name: str, parsed: bytes | None = None) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    if parsed:
        (folder / "partial_parse.msgpack").write_bytes(parsed)
    return folder


def content(folder: Path) -> bytes | None:
    file = folder / "partial_parse.msgpack"
    return file.read_bytes() if file.exists() else None


def test_what_one_lake_parsed_another_is_lent(tmp_path):
    one, other = lake(tmp_path, "one", b"parsed"), lake(tmp_path, "other")
    Shared(PROJECT, "definitions", []).keep(one)
    Shared(PROJECT, "definitions", []).lend(other)
    assert content(other) == b"parsed"


@pytest.mark.parametrize(
    "changed",
    [
        (PROJECT, "other definitions", []),
        (Path("/elsewhere/dbt_project"), "definitions", []),
        (PROJECT, "definitions", ["--vars", "{a: 1}"]),
        (PROJECT, "definitions", ["--vars={a: 1}"]),
        (PROJECT, "definitions", ["--no-partial-parse"]),
    ],
)
def test_nothing_is_lent_to_what_was_parsed_from_something_else(tmp_path, changed):
    Shared(PROJECT, "definitions", []).keep(lake(tmp_path, "one", b"parsed"))
    other = lake(tmp_path, "other")
    Shared(*changed).lend(other)
    assert content(other) is None


def test_what_was_parsed_with_other_settings_is_not_kept(tmp_path, cache):
    Shared(PROJECT, "definitions", ["--vars", "{a: 1}"]).keep(lake(tmp_path, "one", b"parsed"))
    assert not cache.exists()


def test_a_kept_file_that_dbt_could_not_use_is_replaced(tmp_path):
    one, other = lake(tmp_path, "one", b"damaged"), lake(tmp_path, "other")
    Shared(PROJECT, "definitions", []).keep(one)
    shared = Shared(PROJECT, "definitions", [])
    shared.lend(other)
    (other / "partial_parse.msgpack").write_bytes(b"parsed anew")
    shared.keep(other)
    Shared(PROJECT, "definitions", []).lend(one)
    assert content(one) == b"parsed anew"


def test_only_the_newest_few_are_kept(tmp_path, cache):
    one = lake(tmp_path, "one", b"parsed")
    for number in range(7):
        Shared(PROJECT, f"definitions {number}", []).keep(one)
        for file in cache.iterdir():  # time passes
            os.utime(file, (file.stat().st_mtime - 10,) * 2)
    assert len(list(cache.iterdir())) == 4
    other = lake(tmp_path, "other")
    Shared(PROJECT, "definitions 0", []).lend(other)
    assert content(other) is None
    Shared(PROJECT, "definitions 6", []).lend(other)
    assert content(other) == b"parsed"


def test_where_nothing_can_be_kept_each_lake_has_its_own(tmp_path, monkeypatch):
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    one = lake(tmp_path, "one", b"parsed")
    shared = Shared(PROJECT, "definitions", [])
    shared.lend(one)
    shared.keep(one)
    assert content(one) == b"parsed"
