"""The pool and what is missing from it, on a lake of the demo collection."""

import shutil
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

POOL_DEPTH = 3  # the demo's rankings are short: most are cut only at a small depth
MODEL = "lake.marts.pool"


@pytest.fixture
def folder(tmp_path, demo) -> Path:
    """A copy of the demo whose pool is shallow and leaves near-duplicates out."""
    folder = shutil.copytree(demo, tmp_path / "lake")
    with Lake.writer(Project.find(folder)) as lake, lake.transaction("test") as transaction:
        transaction.run(
            "update {lake}.raw.collections "
            "set default_pool_depth = ?, leave_out_near_duplicates = true",
            POOL_DEPTH,
        )
    return folder


def pool_by_hand(lake: Lake) -> set[tuple[str, str]]:
    """(query, passage) of the pool, worked out from raw in Python."""
    left_out = {p for (p,) in lake.rows("select passage_id from lake.raw.near_duplicates")}
    kinds = dict(lake.rows("select system, kind from lake.raw.systems"))
    rankings = defaultdict(list)
    for system, query, passage, score in lake.rows(
        "select system, query_id, passage_id, score from lake.raw.run_entries"
    ):
        if passage not in left_out:
            rankings[system, query].append((np.float32(score), passage.encode(), passage))
    pool = set()
    for (system, query), entries in rankings.items():
        depth = None if kinds[system] == "generation" else POOL_DEPTH
        best_first = sorted(entries, reverse=True)
        pool |= {(query, passage) for _, _, passage in best_first[:depth]}
    judged = lake.rows("select query_id, passage_id from lake.raw.judgments")
    return pool | {(query, passage) for query, passage in judged if passage not in left_out}


def test_the_pool_of_the_demo_is_the_one_worked_out_in_python(folder):
    with Lake.live(Project.find(folder)) as lake:
        rows = lake.rows(f"select query_id, passage_id from {MODEL}")
        assert len(rows) == len(set(rows))
        assert set(rows) == pool_by_hand(lake)
        texts = dict(lake.rows("select passage_id, text_sha256 from lake.raw.passages"))
        for passage, sha256 in lake.rows(f"select passage_id, text_sha256 from {MODEL}"):
            assert sha256 == texts.get(passage)


def grader(grader_id: str, created_at: datetime) -> dict:
    return {
        "grader_id": grader_id,
        "name": "words",
        "engine": "lexical",
        "model": "",
        "model_revision": "",
        "target": "direct",
        "prompt": "",
        "prompt_sha256": "",
        "prompt_text": None,
        "scale_min": 0,
        "scale_max": 3,
        "settings": "{}",
        "parser": "strict",
        "created_at": created_at,
    }


def grade_everything(transaction, grader_id: str) -> int:
    return transaction.run(
        """
        insert into {lake}.raw.grades by name
        select
            ? as grader_id, collection, query_id, passage_id, '' as item_id, 2 as grade,
            'ok' as status, 'b' as run_id, timestamp '2026-03-01' as graded_at,
            text_sha256 as passage_sha256
        from {lake}.marts.pool
        where text_sha256 is not null
        """,
        grader_id,
    )


def backlog(lake: Lake) -> dict[str, int]:
    return dict(
        lake.rows("select grader, count(*) from lake.marts.grading_backlog group by grader")
    )


@pytest.mark.slow
def test_the_backlog_follows_raw_between_builds(folder):
    """A new grader lacks everything, a graded one nothing; a text that changes is graded anew;
    a grader that takes over a name lacks everything again."""
    project = Project.find(folder)
    with Lake.writer(project) as lake:
        gradable = lake.value(f"select count(text_sha256) from {MODEL}")
        assert backlog(lake) == {}, "imported judges grade nothing here"
        types = {"prompt_text": pl.String}
        with lake.transaction("test") as transaction:
            row = grader("aaaaaa0000000000", datetime(2026, 3, 1))
            transaction.insert("graders", pl.DataFrame([row], schema_overrides=types))
        assert backlog(lake) == {"words": gradable}
        with lake.transaction("test") as transaction:
            grade_everything(transaction, "aaaaaa0000000000")
        assert backlog(lake) == {}

        passage = lake.value(f"select min(passage_id) from {MODEL} where text_sha256 is not null")
        queries = lake.value(f"select count(*) from {MODEL} where passage_id = ?", passage)
        with lake.transaction("test") as transaction:
            transaction.run(
                "update {lake}.raw.passages set text = 'new', text_sha256 = 'new' "
                "where passage_id = ?",
                passage,
            )
        assert backlog(lake) == {"words": queries}

        with lake.transaction("test") as transaction:
            row = grader("bbbbbb0000000000", datetime(2026, 3, 2))
            transaction.insert("graders", pl.DataFrame([row], schema_overrides=types))
        assert backlog(lake) == {"words": gradable, "words@aaaaaa": queries}
