"""A whole conversation judged by criteria: which are asked about, what the judge sees, and what it
comes to."""

from pathlib import Path
from typing import Any

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.lakes import copy_of
from tests.projects import project
from tests.reading import published

pytestmark = pytest.mark.slow

ASKED = "I am allergic to nuts. What cake can I bake?"
TOLD = "A lemon cake has no nuts."
CAKES = {"forgets": "A chocolate cake with hazelnuts.", "remembers": "Cocoa cake, without nuts."}
ALONE = {"forgets": "Goethe wrote Faust.", "remembers": "Marlowe."}
# criterion -> its weight; the last is met by what was said before, and by no last answer
CRITERIA = {"cocoa cake": 5, "hazelnuts": -2, "lemon": 1}


def said(user: str, assistant: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]


def bank_line(query_id: str) -> dict[str, Any]:
    about = {"tier": "mandatory", "type": "explicit"}
    criteria = [{"text": text, "weight": weight, **about} for text, weight in CRITERIA.items()]
    return {"qid": query_id, "criteria": criteria}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, new_lake) -> Path:
    """Two systems that go on with a conversation and answer a question alone, judged both ways."""
    folder = tmp_path_factory.mktemp("conversations") / "chat"
    log = [
        {
            "query_id": "cakes",
            "system": system,
            "messages": [*said(ASKED, TOLD), *said("And with chocolate?", cake)],
        }
        for system, cake in CAKES.items()
    ]
    log += [
        {"query_id": "faust", "system": system, "question": "Who wrote Faust?", "answer": answer}
        for system, answer in ALONE.items()
    ]
    graders = {
        "talk": {"engine": "lexical", "prompt": "conversation_criteria"},
        "answer": {"engine": "lexical", "prompt": "answer_criteria"},
    }
    files = {"log.jsonl": log, "bank.jsonl": [bank_line("cakes"), bank_line("faust")]}
    project(folder, {"chat": {}}, graders, files)
    new_lake(folder)
    gradelake(folder, "import", "rag", "chat", "log.jsonl")
    gradelake(folder, "import", "bank", "chat", "bank.jsonl", "--name", "criteria")
    for grader in graders:
        planned = gradelake(folder, "grade", "chat", "--grader", grader)
        assert "is shown an empty one" not in planned.stdout + planned.stderr
    gradelake(folder, "build")
    return folder


def grades(folder: Path, grader: str) -> dict[tuple[str, str, str], int]:
    rows = published(folder).rows(
        """
        select systems.system, grades.query_id, items.text, grades.grade
        from lake.intermediate.int_item_grades as grades
        inner join lake.raw.answers as systems using (collection, query_id, passage_id)
        inner join lake.raw.rubric_items as items using (collection, query_id, item_id)
        where grades.grader = ?
        """,
        grader,
    )
    return {tuple(row[:3]): row[3] for row in rows}


def test_only_what_has_something_before_it_is_a_conversation(folder):
    talk, answer = grades(folder, "talk"), grades(folder, "answer")
    assert {query for _, query, _ in talk} == {"cakes"}
    assert {query for _, query, _ in answer} == {"cakes", "faust"}
    assert len(talk) == len(CAKES) * len(CRITERIA)


def test_the_judge_sees_all_that_was_said(folder):
    talk, answer = grades(folder, "talk"), grades(folder, "answer")
    for system in CAKES:
        assert talk[system, "cakes", "lemon"] == 2  # said before
        assert answer[system, "cakes", "lemon"] == 0
        assert talk[system, "cakes", "hazelnuts"] == answer[system, "cakes", "hazelnuts"]


def test_its_board_is_of_its_own_queries_with_the_measures_of_criteria(folder):
    boards = published(folder).rows(
        "select label_set, system, measure, score, n_queries from lake.marts.leaderboard "
        "where level = 1 and label_set like 'talk/%'"
    )
    attainable = sum(weight for weight in CRITERIA.values() if weight > 0)
    talk = grades(folder, "talk")
    expected = [
        (
            "talk/v0/conversations",
            system,
            measure,
            round(
                sum(w * share(talk[system, "cakes", text]) for text, w in CRITERIA.items())
                / attainable,
                10,
            ),
            1,
        )
        for system in CAKES
        for measure, share in (("Criteria", lambda g: g / 2), ("CriteriaStrict", lambda g: g // 2))
    ]
    assert sorted(boards) == sorted(expected)


def test_other_words_before_are_another_conversation_and_the_same_answer(folder, tmp_path):
    copy_of(folder, tmp_path / "chat")
    with Lake.writer(Project.find(tmp_path / "chat" / "gradelake.toml")) as lake:
        lake.connection.execute(
            "update lake.raw.queries set narrative = 'Said before: nothing of cakes' "
            "where query_id = 'cakes'"
        )
    missing = {
        grader: "nothing is missing"
        not in gradelake(tmp_path / "chat", "grade", "chat", "--grader", grader).stdout
        for grader in ("talk", "answer")
    }
    assert missing == {"talk": True, "answer": False}
