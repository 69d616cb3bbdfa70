"""Files of `nuggetizer assign` become the grades of a foreign grader, or are refused whole."""

import json

import pytest

from gradelake.grading.exchange.choices import Choices
from gradelake.grading.exchange.grades_import import import_grades
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Rejected

ANSWERS = {"a": "Air scatters blue light.", "b": "The sea is blue.", "c": "The sea is blue."}
NUGGETS = {"air scatters light": "vital", "blue more than red": "okay"}


@pytest.fixture
def answering(judged):
    """Three systems answer q1, b and c alike; its rubric are two nuggets."""
    judged.write(
        "responses.jsonl",
        [
            json.dumps({"system": system, "query_id": "q1", "text": text})
            for system, text in ANSWERS.items()
        ],
    )
    judged.configure(responses=["responses.jsonl"])
    judged.ingest()
    judged.write("bank.jsonl", [json.dumps(record("a"))])
    judged.bank("bank.jsonl", "nuggets")
    return judged


def record(system: str, *labels: str, **changes) -> dict:
    """A line of a file: the labels of both nuggets."""
    labels = labels or ("support", "not_support")
    return {
        "query": "why is the sky blue",
        "qid": "q1",
        "answer_text": ANSWERS[system],
        "response_length": 4,
        "run_id": system,
        "nuggets": [
            {"text": text, "importance": importance, "assignment": label}
            for (text, importance), label in zip(NUGGETS.items(), labels, strict=True)
        ],
    } | changes


def bring(judged, *records, file: str = "assigned.jsonl", **choices):
    judged.write(file, [one if isinstance(one, str) else json.dumps(one) for one in records])
    choices = Choices(**{"grader": "theirs"} | choices)
    return import_grades(judged.lake, judged.name, judged.folder / file, choices, ["import"])


def grades(judged, columns: str = "grade, status, error") -> set[tuple]:
    """(answer, nugget) -> columns."""
    return set(
        judged.rows(
            f"""
            select distinct passages.text, items.text, {columns}
            from lake.raw.grades as grades
            inner join lake.raw.graders using (grader_id)
            inner join lake.raw.passages as passages using (collection, passage_id)
            inner join lake.raw.rubric_items as items using (collection, query_id, item_id)
            where name = 'theirs'
            """
        )
    )


def test_each_assignment_is_a_grade_of_the_answer(answering):
    half, failed = record("a", "support", "partial_support"), record("b", "failed", "not_support")
    done = bring(answering, half, failed)
    assert (done.exit_code, done.counts, done.notes()) == (0, {"graders": 1, "grades": 4}, [])
    assert grades(answering) == {
        (ANSWERS["a"], "air scatters light", 2, "ok", None),
        (ANSWERS["a"], "blue more than red", 1, "ok", None),
        (ANSWERS["b"], "air scatters light", None, "failed", "failed in the file"),
        (ANSWERS["b"], "blue more than red", 0, "ok", None),
    }
    assert answering.rows("select engine, target, scale_min, scale_max from lake.raw.graders") == [
        ("imported", "assign", 0, 2)
    ]


@pytest.mark.slow
def test_files_of_several_runs_are_one_graders_and_a_changed_file_replaces_its_own(answering):
    bring(answering, record("a"), file="a.jsonl")
    bring(answering, record("b"), file="b.jsonl")
    assert len(grades(answering)) == 4
    assert bring(answering, record("b"), file="b.jsonl").snapshot is None
    bring(answering, record("b", "partial_support", "support"), file="b.jsonl")
    assert {row for row in grades(answering, "grade") if row[0] == ANSWERS["b"]} == {
        (ANSWERS["b"], "air scatters light", 1),
        (ANSWERS["b"], "blue more than red", 2),
    }
    assert len(grades(answering)) == 4
    assert answering.lake.value("select count(*) from lake.raw.graders") == 1


@pytest.mark.slow
def test_systems_that_answer_alike_share_the_first_assignment_and_that_is_said(answering):
    done = bring(answering, record("b", "support", "support"), record("c"))
    assert done.counts["grades"] == 2
    assert done.notes() == ["2 grades are there twice; the first was kept"]
    assert {grade for *_, grade in grades(answering, "grade")} == {2}


@pytest.mark.slow
def test_what_the_rubric_says_otherwise_is_told_and_counts(answering):
    other = record("a")
    other["nuggets"][1] |= {"importance": "vital"}
    (note,) = bring(answering, other).notes()
    assert note.startswith("1 assignment is of a nugget that the rubric says is vital")
    (note,) = bring(answering, record("a", nuggets=record("a")["nuggets"][:1])).notes()
    assert note == (
        "1 assignment is not in the file, to nuggets of the rubric; they count as not held"
    )


@pytest.mark.slow
def test_unknown_queries_are_left_out_and_named(answering):
    done = bring(answering, record("a"), record("a", qid="q9"))
    assert (done.exit_code, done.unknown_queries, len(grades(answering))) == (3, ["q9"], 2)
    with pytest.raises(Rejected, match="none of its queries is in the collection"):
        bring(answering, record("a", qid="q9"))


def nugget(**changes) -> dict:
    return record("a", nuggets=[record("a")["nuggets"][0] | changes])


WRONG = [
    (record("a", run_id="z"), "the lake has no answer of system 'z' to query 'q1'"),
    (record("a", run_id=None), "run_id is missing"),
    (record("a", qid=None), "qid is missing"),
    (record("a", answer_text="Other."), "system 'a' has another answer to query 'q1'"),
    (record("a", nuggets={}), "nuggets is {}, not a list"),
    (nugget(text="rain"), "'rain' is no nugget of the rubric of query 'q1'"),
    (nugget(text=""), "nuggets 1, text is empty"),
    (
        nugget(assignment="yes"),
        "nuggets 1, assignment is \"yes\", not 'support', 'partial_support'",
    ),
    (nugget(assignment=None), "nuggets 1, assignment is missing"),
    (nugget(assignment=["support"]), 'nuggets 1, assignment is ["support"], not'),
    (record("b"), "system 'b' on query 'q1' is there twice (first on line 1)"),
    (
        {"query": "q", "qid": "q1", "candidate_text": "t", "docid": "p1", "nuggets": []},
        "this is about a retrieved passage (docid), not about a system's answer",
    ),
    ("[]", "a JSON list, not an object"),
    ('{"qid": "q1", "nuggets', "not JSON"),
]


def test_a_wrong_line_is_refused_with_the_whole_file(answering):
    for wrong, why in WRONG:
        with pytest.raises(Rejected) as caught:
            bring(answering, record("b"), wrong)
        assert f"assigned.jsonl:2: {why}" in str(caught.value)
        assert "what to do: " in str(caught.value)
    assert answering.rows("select * from lake.raw.grades") == []


@pytest.mark.slow
def test_a_nugget_that_is_there_twice_needs_one_assignment(answering):
    twice = record("a")
    twice["nuggets"].append(twice["nuggets"][0] | {"assignment": "partial_support"})
    with pytest.raises(Rejected, match="'air scatters light' is there twice, with another"):
        bring(answering, twice)
    twice["nuggets"][2]["assignment"] = "support"
    assert bring(answering, twice).counts["grades"] == 2


@pytest.mark.slow
def test_choices_of_other_formats_are_refused(answering):
    for choices, hint in (
        ({"grader": None}, "--grader NAME"),
        ({"rater": "paper"}, "Leave out --rater"),
        ({"name": "x"}, "Leave out --name"),
        ({"scale": "0-3"}, "Leave out --scale"),
    ):
        with pytest.raises(BadInput) as caught:
            bring(answering, record("a"), **choices)
        assert hint in caught.value.hint


def test_a_file_of_criteria_is_not_taken_for_assignments(answering):
    criteria = """{"('q1', 'p1')": {"nuggets": 2}}"""
    done = bring(answering, criteria, grader=None, name="judge")
    assert [grader["target"] for grader in done.graders] == ["direct"]
