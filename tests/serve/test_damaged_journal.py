"""What people answered waits on the disk: a full one spoils nothing, damage loses no other line."""

import json
import os
import re
import signal
import time
from datetime import datetime
from pathlib import Path

import pytest

from gradelake.serve.journal import Journal
from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.conftest import gradelake
from tests.serve.server import Server, own_server, reviews


@pytest.fixture
def project(tmp_path) -> Project:
    (tmp_path / "gradelake.toml").write_text("")
    return Project.read(tmp_path / "gradelake.toml")


def entry(n: int, **more: object) -> dict:
    ids = {"collection": "c", "grader_id": "g", "query_id": f"q{n}", "passage_id": "p"}
    said = {"verdict": "agree", "own_grade": None, "note": None, "blind_grade": 3, "seconds": 1.5}
    about = {"item_id": "i", "assessor": "ann", "grade": 3, "settles": None}
    return ids | said | about | {"reviewed_at": datetime(2026, 1, 1, 10, 0, n)} | more


def waiting(journal: Journal) -> list[str]:
    return [each["query_id"] for each in journal.waiting(assessor="ann")]


def left(project: Project) -> Path:
    (file,) = (project.lake_path / "reviews").glob("*.jsonl")
    return file


def test_what_a_full_disk_cut_off_is_not_acknowledged_and_leaves_nothing(project, monkeypatch):
    journal, write = Journal(project), os.write
    journal.add(entry(1))

    def full(file: int, line: bytes) -> int:
        if len(line) < 20:
            raise OSError(28, "No space left on device")
        return write(file, line[:-10])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        journal.add(entry(2))
    monkeypatch.undo()
    journal.add(entry(3))
    journal.close()

    assert [json.loads(line)["query_id"] for line in left(project).open()] == ["q1", "q3"]
    assert waiting(journal) == waiting(Journal(project)) == ["q1", "q3"]


@pytest.mark.parametrize(
    "damage",
    [
        b"not JSON\n",
        b"\xff\x00\xfe\n",
        b"{}\n",
        b"[1]\n",
        b"null\n",
        json.dumps(entry(9) | {"reviewed_at": "yesterday"}).encode() + b"\n",
        json.dumps(entry(9, grade="3"), default=str).encode() + b"\n",
        json.dumps(entry(9, verdict="maybe"), default=str).encode() + b"\n",
        json.dumps(entry(9, passage_id=None), default=str).encode() + b"\n",
    ],
)
def test_a_damaged_line_is_set_aside_and_named_and_all_others_are_kept(project, capsys, damage):
    journal = Journal(project)
    for n in (1, 2):
        journal.add(entry(n))
    journal.close()
    file = left(project)
    first, second = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + damage + second + b'{"torn": ')

    assert waiting(Journal(project)) == ["q1", "q2"]
    aside = file.with_suffix(".unreadable")
    assert aside.read_bytes() == damage
    assert f"{aside} has these 1 line" in re.sub(r"\s+", " ", capsys.readouterr().err)


def test_what_cannot_be_opened_is_named_and_holds_up_no_start(project, capsys):
    journal = Journal(project)
    journal.add(entry(1))
    journal.close()
    (project.lake_path / "reviews" / "folder.jsonl").mkdir()

    assert waiting(Journal(project)) == ["q1"]
    assert "folder.unreadable" in capsys.readouterr().err.replace("\n", "")


@pytest.mark.slow
def test_the_end_waits_for_no_other_writer_and_the_next_start_commits(graded_demo, tmp_path):
    with own_server(graded_demo, tmp_path) as server:
        folder, at = server.folder, "/c/demo/review/first"
        queue = ("queue", "add", "demo", "first", "--grader", "lexical", "--size", "3")
        gradelake(folder, *queue, "--overlap", "1", "--assessor", "ann")
        ann = server.browser("ann")
        card = ann.get(f"{at}/cards").json()["cards"][0]
        with Lake.writer(Project.read(folder / "gradelake.toml")) as lake, lake.lock("a night"):
            answer = ann.post(f"{at}/answers", json={"id": card["id"], "grade": 2})
            assert answer.status_code == 200
            started = time.monotonic()
            server.process.send_signal(signal.SIGINT)
            said = server.process.communicate(timeout=30)[0]
            assert time.monotonic() - started < 12
        assert "wait" in said
        assert "Traceback" not in said
        again = Server(folder)
        try:
            ((query_id, *_, blind, _note, _settles),) = reviews(folder, "ann")
        finally:
            again.end()
        assert (query_id, blind) == (card["query_id"], 2)
