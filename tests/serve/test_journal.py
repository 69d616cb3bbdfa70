"""What was acknowledged is on the disk, comes into the lake once, and in the order of arrival."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from gradelake.grading.review.revise import ReviewAnswer, ReviewKey, Undo
from gradelake.grading.review.verdicts import put_answers
from gradelake.serve import journal as journals
from gradelake.serve.journal import Journal
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import METADATA
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.upkeep.compaction import FLUSH_FROM
from gradelake.sql.operations.upkeep.retention import maintain
from tests import projects
from tests.command_line import gradelake
from tests.serve.server import own_server, reviews

KILLED = """
import os, signal, sys
from pathlib import Path
from gradelake.serve.journal import Journal
from gradelake.sql.common.project import Project
from tests.serve.test_journal import key, said
journal = Journal(Project.read(Path(sys.argv[1])))
for n in range(3):
    journal.add(key("ann", n), said(4))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def project(tmp_path) -> Project:
    made = projects.project(tmp_path)
    Lake.create(made).close()
    return made


def key(assessor: str, n: int) -> ReviewKey:
    return ReviewKey("g", "c", "q", f"p{n}", "i", None, "h", assessor)


def said(opinion: int | None, **more) -> ReviewAnswer:
    return ReviewAnswer(3, opinion, **more)


def in_lake(project: Project) -> list[tuple]:
    with Lake.live(project) as lake:
        return lake.rows(
            "select assessor, passage_id, coalesce(own_grade, grade) "
            "from lake.raw.grade_reviews order by all"
        )


def file_of(project: Project) -> Path:
    return project.lake_path / "reviews" / "answers.sqlite"


@pytest.mark.slow
def test_what_was_acknowledged_before_a_kill_is_brought_in_by_any_server(project):
    script = [sys.executable, "-c", KILLED, str(project.file)]
    assert subprocess.run(script, check=False).returncode == -signal.SIGKILL

    journal = Journal(project)
    assert [each.passage_id for each, _ in journal.waiting(assessor="ann")] == ["p0", "p1", "p2"]
    assert journal.commit() == 3
    assert in_lake(project) == [("ann", f"p{n}", 4) for n in range(3)]
    assert journal.waiting() == []


def test_an_answer_is_on_the_disk_before_it_is_acknowledged(project):
    """The disk keeps each commit though the power fails, which no test can bring about."""
    journal = Journal(project)
    with journal._writing() as connection:
        assert connection.execute("pragma synchronous").fetchone() == (2,)  # full


def test_what_comes_a_second_time_after_a_kill_in_the_commit_changes_nothing(project, monkeypatch):
    journal = Journal(project)
    journal.add(key("ann", 1), said(5, is_blind=True))
    journal.add(key("ann", 1), said(2))
    journal.add(key("ann", 2), said(1))
    journal.add(key("ann", 2), Undo(3))

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "_writing", killed)
        with pytest.raises(KeyboardInterrupt):
            journal.commit()
    assert in_lake(project) == [("ann", "p1", 2)]
    with Lake.writer(project) as lake, lake.transaction("test") as into:  # at a terminal, meanwhile
        put_answers(into, [(key("ann", 1), said(4))])

    assert Journal(project).commit() == 4
    with Lake.live(project) as lake:
        rows = lake.rows("select own_grade, blind_grade from lake.raw.grade_reviews")
    assert rows == [(4, 5)]
    assert journal.waiting() == []


def test_order_is_that_of_arrival_at_any_server_whatever_the_clock_says(project, monkeypatch):
    first, second = Journal(project), Journal(project)
    first.add(key("ann", 1), said(1))
    monkeypatch.setattr(journals, "utc_now", lambda: utc_now() - timedelta(days=2))
    second.add(key("ann", 1), said(2))
    assert first.commit() == 2
    second.add(key("ann", 1), said(4))  # also after those before it have left the file
    assert [answer.opinion for _, answer in first.waiting()] == [4]
    assert second.commit() == 1
    assert in_lake(project) == [("ann", "p1", 4)]


def test_what_cannot_be_written_is_not_acknowledged_and_spoils_nothing(project):
    journal = Journal(project)
    journal.add(key("ann", 1), said(1))
    journal._connection.execute("pragma max_page_count = 1")  # as a full disk does
    with pytest.raises(WorkFailed, match="could not be kept"):
        journal.add(key("ann", 2), said(1, note="x" * 100_000))
    journal._connection.execute("pragma max_page_count = 1000000")
    journal.add(key("ann", 3), said(1))

    assert [each.passage_id for each, _ in Journal(project).waiting()] == ["p1", "p3"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"opinion": "abc"}, "opinion"),
        ({"opinion": 10**12}, "opinion 1000000000000 is too large"),
        ({"seconds": float("nan")}, "seconds nan is too large"),
        ({"at": "2026-11-27T10:00:00+02:00"}, "no time in UTC without an offset"),
        (None, "object"),
    ],
)
def test_an_entry_that_is_no_answer_holds_up_nobody(project, capsys, wrong, told):
    journal = Journal(project)
    journal.add(key("ann", 1), said(1))
    journal.add(key("bob", 2), said(2))
    ((good,),) = journal._connection.execute("select answer from answers where id = 1")
    bad = json.dumps(wrong and json.loads(good) | wrong)
    journal._connection.execute("update answers set answer = ? where id = 1", [bad])

    assert Journal(project).commit() == 1
    assert in_lake(project) == [("bob", "p2", 2)]
    message = " ".join(capsys.readouterr().err.split())
    assert "entry 1, of ann, is no answer" in message
    assert told in message
    ((kept,),) = journal._connection.execute("select entry from set_aside").fetchall()
    assert json.loads(kept)[-1] == bad
    journal.add(key("ann", 1), said(3))
    assert journal.commit() == 1


def test_a_damaged_file_is_set_aside_and_what_can_be_read_of_it_is_kept(project, capsys):
    for n, damage in enumerate((b"no database at all", None)):
        journal = Journal(project)
        for each in range(200):
            journal.add(key("ann", each), said(1, note="x" * 200))
        journal.close()
        file = file_of(project)
        content = damage or file.read_bytes()[:-20_000] + os.urandom(20_000)
        file.write_bytes(content)

        journal = Journal(project)
        found = journal.waiting()
        assert len(found) == 0 if damage else 0 < len(found) < 200
        aside = list(file.parent.glob("answers.damaged-*"))
        assert len(aside) == n + 1
        assert "was damaged" in " ".join(capsys.readouterr().err.split())
        journal.add(key("bob", 1), said(2))
        journal.close()
        file.unlink()


@pytest.mark.slow
def test_many_small_commits_make_no_files_and_thousands_of_rows_one(project):
    n_files = (
        f"select count(*) from {METADATA}ducklake_data_file as files "
        f"inner join {METADATA}ducklake_table as tables using (table_id) "
        "where table_name = 'grade_reviews' and files.end_snapshot is null"
    )
    a_commit = FLUSH_FROM // 10
    with Lake.writer(project) as lake:
        for n in range(12):
            with lake.transaction("review") as into:
                put_answers(
                    into, [(key("ann", n * a_commit + i), said(3)) for i in range(a_commit)]
                )
        assert lake.value("select count(*) from lake.raw.grade_reviews") == 12 * a_commit
        assert lake.value(n_files) == 0
        maintain(project)
        assert lake.value(n_files) == 1
        for n in range(5):  # people change what is in that file
            with lake.transaction("review") as into:
                put_answers(into, [(key("ann", n * a_commit + i), said(1)) for i in range(40)])
        maintain(project)
        assert lake.value(n_files) == 1
        assert lake.rows(
            "select verdict, count(*) from lake.raw.grade_reviews group by all order by 1"
        ) == [("agree", 12 * a_commit - 200), ("disagree", 200)]
    assert len(os.listdir(project.lake_path / "data" / "raw" / "grade_reviews")) <= 2


@pytest.mark.slow
def test_the_end_waits_for_no_other_writer_and_loses_nothing(graded_demo, tmp_path):
    with own_server(graded_demo, tmp_path) as server:
        folder, at = server.folder, "/c/demo/review/first"
        queue = ("queue", "add", "demo", "first", "--grader", "lexical", "--size", "3")
        gradelake(folder, *queue, "--overlap", "1", "--assessor", "ann")
        ann = server.browser("ann")
        card = ann.get(f"{at}/cards").json()["cards"][0]
        project = Project.read(folder / "gradelake.toml")
        with Lake.writer(project) as lake, lake.lock("a night"):
            answer = ann.post(f"{at}/answers", json={"id": card["id"], "grade": 2})
            assert answer.status_code == 200
            started = time.monotonic()
            server.process.send_signal(signal.SIGINT)
            printed = server.process.communicate(timeout=30)[0]
            assert time.monotonic() - started < 12
        assert "wait" in printed
        assert "Traceback" not in printed
        assert Journal(project).commit() == 1
        ((query_id, *_, blind, _note, _settles),) = reviews(folder, "ann")
        assert (query_id, blind) == (card["query_id"], 2)
