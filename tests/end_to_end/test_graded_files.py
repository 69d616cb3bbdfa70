"""Graded files as the papers' authors have them: in, lists, tables, and out again as they came."""

import csv
import json
from pathlib import Path

import pytest

from tests.command_line import gradelake
from tests.grading.workbench_files import RATED, direct, judgment, paragraph, rated
from tests.projects import project, write

pytestmark = pytest.mark.slow

LLAMA = "meta/llama-3"
VERIFIED = {"prompt_class": "ManualExamQA", "check_answer_key": True, "is_self_rated": False}
QUERIES = {"q2": "how do bees find home", "q1": "why is the sky blue"}
# in an order that is none of the alphabet
BANK = {
    "q2": {"q2/m": "How do bees find home?"},
    "q1": {"q1/z": "Why is it blue?", "q1/a": "What scatters?"},
}


def verified(answers: dict[str, str], right: list[str], **changes):
    """An entry that says which answers are right, and rates none."""
    entry = {
        "correctAnswered": right,
        "wrongAnswered": [item for item in answers if item not in right],
        "answers": [[item, text] for item, text in answers.items()],
        "llm": "google/flan-t5-large",
        "llm_options": {},
        "exam_ratio": len(right) / len(answers),
        "prompt_info": VERIFIED,
        "prompt_type": "question",
    }
    return entry | changes


P1 = paragraph(
    "p1",
    exam=[
        rated({"q1/z": 5, "q1/a": 1}, confidence={"q1/z": 0.7}),
        rated({"q1/z": 2, "q1/a": 0}, llm=LLAMA),
        verified({"q1/z": "air scatters", "q1/a": "air"}, ["q1/z"]),
        verified({"q1/z": "ANSWER-OF-LLAMA", "q1/a": "no"}, [], llm=LLAMA),
    ],
    judgments=[judgment("p1", 3)],
    heard_of=None,
)
P2 = paragraph("p2", exam=[rated({"q1/z": 0, "q1/a": 0})], judgments=[judgment("p2", 0)])
P3 = paragraph(
    "p3",
    exam=[rated({"q2/m": 4}), verified({"q2/m": "by the sun"}, ["q2/m"])],
    grades=[direct(1, "", answers=["Yes", {"of": "nobody"}])],
    judgments=[judgment("p3", 2, "q2", QUERIES["q2"])],
)
GRADED = [["q2", [P3]], ["q1", [P2, P1, paragraph("p4")]]]


@pytest.fixture(scope="module")
def brought(tmp_path_factory):
    """A project whose topics are a dictionary, with the bank and the graded file; no rankings."""
    folder = tmp_path_factory.mktemp("graded") / "project"
    bank = [
        {
            "query_id": query,
            "items": [{"question_id": i, "question_text": t} for i, t in of.items()],
        }
        for query, of in BANK.items()
    ]
    files = {
        "dl20-queries.json": QUERIES,
        "bank.jsonl": bank,
        "graded.jsonl": [json.dumps(line) for line in GRADED],
    }
    project(folder, {"c": {"queries": "dl20-queries.json"}}, files=files)
    gradelake(folder, "ingest", "c")
    gradelake(folder, "import", "bank", "c", "bank.jsonl", "--name", "b")
    gradelake(folder, "import", "grades", "c", "graded.jsonl", "--assessor", "nist")
    gradelake(folder, "build")
    return folder


def ask(folder, query: str) -> list[dict[str, str]]:
    done = gradelake(folder, "sql", "--format", "csv", query)
    return list(csv.DictReader(done.stdout.splitlines()))


def test_verified_answers_are_grades_and_an_answer_is_its_own_models(brought):
    rows = ask(
        brought,
        "select grader, item_id, grade, answer, answered_by from verify_grades "
        "where query_id = 'q1' and passage_id = 'p1'",
    )
    flan, llama = "flan-t5-large.", "llama-3."
    assert [tuple(row.values()) for row in rows] == [
        (f"{flan}ManualExamQA", "q1/z", "1", "air scatters", f"{flan}ManualExamQA"),
        (f"{flan}ManualExamQA", "q1/a", "0", "air", f"{flan}ManualExamQA"),
        (f"{flan}QuestionSelfRated", "q1/z", "5", "air scatters", f"{flan}ManualExamQA"),
        (f"{flan}QuestionSelfRated", "q1/a", "1", "air", f"{flan}ManualExamQA"),
        (f"{llama}ManualExamQA", "q1/z", "0", "ANSWER-OF-LLAMA", f"{llama}ManualExamQA"),
        (f"{llama}ManualExamQA", "q1/a", "0", "no", f"{llama}ManualExamQA"),
        (f"{llama}QuestionSelfRated", "q1/z", "2", "ANSWER-OF-LLAMA", f"{llama}ManualExamQA"),
        (f"{llama}QuestionSelfRated", "q1/a", "0", "no", f"{llama}ManualExamQA"),
    ]
    kappa = ask(
        brought,
        "select kappa, n from kappa where label_set = "
        f"'{flan}ManualExamQA/v0/best' and reference = 'assessor:nist' "
        "and kind = 'binary' and label_cut = 1 and reference_cut = 2",
    )
    assert [row["n"] for row in kappa] == ["2"]


def test_the_workbenchs_files_are_written_without_rankings_and_what_lacks_is_named(
    brought, tmp_path
):
    done = gradelake(brought, "export", "workbench", "c", str(tmp_path / "out"))
    assert "left out: leaderboards: the collection has no rankings\n" in done.stderr
    names = {file.name for file in (tmp_path / "out").iterdir()}
    label_set = "flan-t5-large.ManualExamQA.v0.best"
    assert {
        "c-verify-grading.txt",
        "c-grid-display.txt",
        f"c-rubric-qrels-{label_set}-minrating-1.solo.qrels",
        f"c-rubric-inter-annotator-{label_set}.tex",
    } <= names
    assert not [name for name in names if "leaderboard" in name]
    listed = (tmp_path / "out" / "c-verify-grading.txt").read_text()
    assert listed.index("q1/z") < listed.index("q1/a"), "in the order of the author"


def test_what_a_scale_does_not_reach_is_named_and_the_rest_written(brought, tmp_path):
    words = ("--min-rating", "4", "--min-rating", "1")
    done = gradelake(brought, "export", "workbench", "c", str(tmp_path / "out"), *words)
    label_set = "flan-t5-large.ManualExamQA/v0/best"
    assert f"left out: {label_set} at rating 4: its labels are 0-1\n" in done.stderr
    both = "c-rubric-qrels-flan-t5-large.QuestionSelfRated.v0.best-minrating-{}.solo.qrels"
    assert all((tmp_path / "out" / both.format(at)).exists() for at in (1, 4))


def test_it_comes_out_as_it_came_also_what_nobody_has_heard_of(brought, tmp_path):
    """Byte for byte once keys are sorted: lists keep their order, null stays null."""
    out = tmp_path / "out.jsonl"
    gradelake(brought, "export", "grades", "c", "-o", str(out))
    assert in_one_order(out) == in_one_order(brought / "graded.jsonl")


def in_one_order(file: Path) -> list[str]:
    """Lines of JSON with their keys sorted."""
    lines = map(json.loads, file.read_text().splitlines())
    return [json.dumps(line, sort_keys=True) for line in lines]


def test_what_another_file_adds_is_laid_over_what_the_first_had(brought, tmp_path):
    """An entry whose grades are of two files has both, and keeps what nobody has heard of."""
    more = paragraph("p1", exam=[rated({"q1/new": 3}, prompt_info=RATED)])
    write(brought / "more.jsonl", [json.dumps(["q1", [more]])])
    gradelake(brought, "import", "grades", "c", "more.jsonl")
    out = tmp_path / "out.jsonl"
    words = ("--live", "--grader", "flan-t5-large.QuestionSelfRated")
    gradelake(brought, "export", "grades", "c", "-o", str(out), *words)
    lines = dict(map(json.loads, out.read_text().splitlines()))
    (entry,) = next(each for each in lines["q1"] if each["paragraph_id"] == "p1")["exam_grades"]
    ratings = {one["question_id"]: one["self_rating"] for one in entry["self_ratings"]}
    assert ratings == {"q1/z": 5, "q1/a": 1, "q1/new": 3}
    assert entry["confidence"] == {"q1/z": 0.7}
