"""Of several servers each brings its own reviews into the lake, and those of servers that died."""

import os
from pathlib import Path

import pytest

from gradelake.grading.review.verdicts import put_rows
from gradelake.serve.journal import Entry, Journal
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import METADATA
from gradelake.sql.lake.keys import KEYS
from gradelake.sql.lake.lake import Lake
from gradelake.sql.operations.upkeep.compaction import FLUSH_FROM
from gradelake.sql.operations.upkeep.retention import maintain


@pytest.fixture
def project(tmp_path) -> Project:
    (tmp_path / "gradelake.toml").write_text("# nothing\n")
    project = Project.read(tmp_path / "gradelake.toml")
    Lake.create(project).close()
    return project


def entry(assessor: str, n: int, verdict: str | None = "agree") -> Entry:
    ids = dict.fromkeys(KEYS["grade_reviews"], "same")
    about = {"assessor": assessor, "grade": 3, "verdict": verdict, "reviewed_at": utc_now()}
    return ids | about | {"passage_id": f"p{n}"}


def in_lake(project: Project) -> list[tuple]:
    with Lake.live(project) as lake:
        return lake.rows(
            "select assessor, passage_id, verdict from lake.raw.grade_reviews order by all"
        )


def files(project: Project) -> list[Path]:
    return list((project.lake_path / "reviews").iterdir())


def test_a_server_leaves_the_file_of_a_living_one_and_brings_in_that_of_a_dead_one(project):
    first, second = Journal(project), Journal(project)
    first.add(entry("ann", 1))
    second.add(entry("bob", 1))
    assert [each["assessor"] for each in second.waiting()] == ["bob"]
    assert second.commit(project) == 1
    assert in_lake(project) == [("bob", "p1", "agree")]
    assert len(files(project)) == 2  # of each its own

    first.close()  # as the kernel does when a process dies
    assert second.commit(project) == 1
    assert in_lake(project) == [("ann", "p1", "agree"), ("bob", "p1", "agree")]
    assert second.commit(project) == 0
    second.close()
    assert files(project) == []


def test_what_was_said_last_counts_wherever_it_was_said(project):
    first, second = Journal(project), Journal(project)
    first.add(entry("ann", 1))
    first.add(entry("ann", 2))
    second.add(entry("ann", 1, "disagree"))
    second.add(entry("ann", 2, None))  # taken back
    first.close()
    assert second.commit(project) == 4
    second.close()
    assert in_lake(project) == [("ann", "p1", "disagree")]


def test_what_another_server_is_through_with_is_not_brought_in_again(project, monkeypatch):
    first = Journal(project)
    first.add(entry("ann", 1))
    (path,) = files(project)
    found = Path.glob

    def late(folder: Path, pattern: str) -> list[Path]:  # looks just before the file goes
        monkeypatch.setattr(Path, "glob", found)
        first.commit(project)
        first.close()
        return [path]

    monkeypatch.setattr(Path, "glob", late)
    second = Journal(project)
    assert second.waiting() == []
    second.close()
    assert in_lake(project) == [("ann", "p1", "agree")]


@pytest.mark.slow
def test_many_small_commits_make_no_files_and_thousands_of_rows_one(project):
    n_files = (
        f"select count(*) from {METADATA}ducklake_data_file as files "
        f"inner join {METADATA}ducklake_table as tables using (table_id) "
        "where table_name = 'grade_reviews' and files.end_snapshot is null"
    )
    a_commit = FLUSH_FROM // 50
    with Lake.writer(project) as lake:
        for n in range(60):
            with lake.transaction("review") as into:
                put_rows(into, [entry("ann", n * a_commit + each) for each in range(a_commit)])
        assert lake.value("select count(*) from lake.raw.grade_reviews") == 60 * a_commit
        assert lake.value(n_files) == 0
        maintain(project)
        assert lake.value(n_files) == 1
        for n in range(5):  # people change what is in that file
            with lake.transaction("review") as into:
                put_rows(
                    into, [entry("ann", n * a_commit + each, "disagree") for each in range(40)]
                )
        maintain(project)
        assert lake.value(n_files) == 1
        assert lake.rows(
            "select verdict, count(*) from lake.raw.grade_reviews group by all order by 1"
        ) == [("agree", 60 * a_commit - 200), ("disagree", 200)]
    assert len(os.listdir(project.lake_path / "data" / "raw" / "grade_reviews")) <= 2
