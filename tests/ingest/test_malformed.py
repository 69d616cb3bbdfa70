"""Malformed inputs of every kind: nothing of a refused file lands, and people are told why.

Good files of every kind are in a lake; Hypothesis makes variants of each (malformed.py beside this
file) and the command line is given them. GRADELAKE_MALFORMED=5000 tries that many (with the
settings and seeds of the two files beside this one), other ones each time; without it 160 are
tried, always the same, because each takes a fifth of a second.
"""

import gzip
import json
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradelake.sql.lake.lake import Lake
from tests.ingest.conftest import new_tiny
from tests.ingest.malformed import mutated
from tests.ingest.malformed_kinds import INGEST, KINDS, Kind
from tests.ingest.malformed_room import OF_EACH, STAY, TABLES, TRACE, Room, tried

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def room(tmp_path_factory, empty_lake):
    """Every good file has landed."""
    with closing(new_tiny(tmp_path_factory.mktemp("malformed") / "project", empty_lake)) as tiny:
        for kind in KINDS.values():
            tiny.configure(**kind.settings)
        tiny.configure(
            responses=["responses/*"],
            groups={"family": {"bm": ["x*"], "gen": ["a?"]}},
            official_ranks={"json": "ranks.json", "tsv": "ranks.tsv"},
        )
        assert tiny.project
        there = Room(tiny)
        there.lake = tiny.lake
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Lake, "create", lambda project: tiny.lake)
            patch.setattr(Lake, "writer", lambda project: tiny.lake)
            patch.setattr(Lake, "__exit__", lambda self, *_: None)
            for kind in KINDS.values():
                there.put(kind, kind.packed(kind.good))
            for command in dict.fromkeys(kind.command for kind in KINDS.values()):
                code, out, err = there.gradelake(*command)
                assert code == 0, (command, out, err)
            there.base = there.content()
            yield there


def check_what_was_said(kind: Kind, code: int, out: str, err: str, as_json: bool) -> dict | None:
    """A person can act on it. Returns the object of --json where there is one."""
    assert code in (0, 1, 2, 3)
    assert not TRACE.search(out + err)
    if code:
        assert kind.file in out + err
        assert len(err) < 10_000
    if code in (1, 2):
        assert "\n  " in err or "what_to_do" in out
    return json.loads(out) if as_json and out else None


def check_what_landed(room: Room, kind: Kind, before: dict, data: bytes, said: dict | None) -> None:
    after = room.content()
    changed = {name for name in TABLES if after[name] != before[name]}
    assert changed <= {*kind.tables, "collections", "system_groups"}
    room.ledger_is_right()
    if kind.rows:
        n = room.lake.value(kind.rows)
        if kind.counted:
            assert n == kind.counted(data)
        if said and kind.command != INGEST:
            assert n == said["written"]


@pytest.mark.parametrize("name", KINDS)
def test_a_malformed_file_lands_whole_or_not_at_all(room, name):
    kind = KINDS[name]

    @tried(OF_EACH)
    @given(mutated(kind.good, kind.file.endswith(".gz")), st.booleans())
    def campaign(data: bytes, as_json: bool) -> None:
        room.put(kind, data)
        before = room.snapshot()
        code, out, err = room.gradelake(*kind.command, *["--json"] * as_json)
        landed = room.snapshot() - before
        try:
            said = check_what_was_said(kind, code, out, err, as_json)
            assert landed in ((0, 1) if code in (0, 3) else (0,))
            if landed:
                unzipped = gzip.decompress(data) if kind.file.endswith(".gz") else data
                check_what_landed(room, kind, room.base, unzipped, said)
        finally:
            room.put(kind, kind.packed(kind.good))
            if landed:
                again, out_again, err_again = room.gradelake(*kind.command)
        if landed:
            assert again == 0, (out_again, err_again)
            now = room.content()
            assert {n: now[n] for n in TABLES if n not in STAY} == {
                n: room.base[n] for n in TABLES if n not in STAY
            }
            room.base = now

    campaign()
