"""vLLM's own server, with a real model: the engine `openai` asks it, and so do UMBRELA and TRUE.

SmolLM2-135M is too small for any of it and proves the machinery: what it explains, distils and
grades means nothing.
"""

import json

import pytest

from gradelake.grading.distil import distil as distilling
from gradelake.grading.distil.distil_store import DistilRequest
from gradelake.grading.graders.configured import configured, explaining
from gradelake.grading.plan.request import Request
from gradelake.grading.prompts.prompt_file import find_prompt
from gradelake.grading.prompts.written_reply import FEATURES, LONGEST_REASON, LONGEST_RUBRIC
from gradelake.grading.run import grader_run
from tests.grading import smollm
from tests.grading.vllm_server import ROOM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(smollm.missing()), reason=str(smollm.missing())),
]


@pytest.fixture
def smol(judged, served, two_workers):
    """Grades the collection; gives the named columns of the grades."""

    def grade(columns: str, name: str = "smol", **settings) -> dict[tuple, tuple]:
        judged.grader(
            name,
            engine="openai",
            model="smol",
            base_url=served,
            prompt="question_self_rating",
            parser="strict",
            **settings,
        )
        run = judged.grade(name)
        assert (run.counts["ok"], run.counts["failed"], run.exit_code) == (12, 0, 0)
        return judged.grades(name, columns)

    return grade


def test_every_grade_is_on_the_scale_and_comes_with_its_expectation(smol, judged):
    columns = "grade, expected_grade, prompt_tokens, completion_tokens, scale_mass"
    grades = smol(columns)
    assert len(grades) == 12
    for grade, expected, prompt_tokens, completion_tokens, mass in grades.values():
        assert grade in range(6)
        assert 0 < expected < 5
        assert prompt_tokens == 0 or 150 < prompt_tokens < 300  # 0: p5 shares p1's prompt
        assert completion_tokens in (0, 1)
        assert mass is None  # the server tells shares among the choices only
    # of 12 prompts two are shared, and the instructions before the question are 130 tokens long
    assert sum(row[2] == 0 for row in grades.values()) == 2
    ((cached,),) = judged.rows("select cached_tokens from lake.raw.grading_batches")
    assert cached > 0


def test_a_json_schema_gives_grades_on_the_scale_too(smol):
    grades = smol("grade, response, expected_grade", constrain="json_schema")
    assert {grade for grade, _, _ in grades.values()} <= set(range(6))
    assert all(response == str(grade) for grade, response, _ in grades.values())
    assert {expected for _, _, expected in grades.values()} == {None}


def test_a_passage_beyond_the_model_s_room_is_cut_and_that_is_recorded(judged, served):
    from gradelake.grading.engines.openai import Engine

    engine = Engine(
        judged.grader(
            "smol", engine="openai", model="smol", base_url=served, prompt="question_self_rating"
        )
    )
    short, long = (
        engine.grader.prompt.render({"item": "Do bees fly?", "passage": "Bees fly. " * n})
        for n in (3, 1800)
    )  # "Bees fly. " is some 3 tokens: 18,000 characters are 5,400
    responses = engine.score([short, long])
    assert [response.cut_characters for response in responses] == [0, 18_000 - 4_500]
    assert all(response.text in "012345" for response in responses)
    assert 1000 < responses[1].prompt_tokens < ROOM


# --- UMBRELA and TRUE -----------------------------------------------------------------------------


def grades_of(judged, name: str, settings: dict) -> list[tuple]:
    """(passage, grade, status, response, error) of every pair of the pool."""
    judged.graders[name] = settings
    grader = configured(judged.project, judged.lake, name)
    grader_run.grade(judged.project, Request(judged.name, grader), lambda line: None)
    found = judged.lake.rows(
        "select passage_id, grade, status, response, error from lake.raw.grades "
        "where grader_id = ? order by passage_id",
        grader.grader_id,
    )
    assert [row[0] for row in found] == ["p1", "p2", "p3", "p4", "p5"]
    return found


def by_server(address: str, prompt: str, **settings) -> dict:
    return {"engine": "openai", "model": "smol", "base_url": address, "prompt": prompt, **settings}


def is_graded_or_says_why(row: tuple, highest: int) -> bool:
    _, grade, status, response, error = row
    if status == "ok":
        return grade in range(highest + 1) and error is None
    return status == "failed" and grade is None and bool(error) and response is not None


def test_true_explains_distils_and_judges(judged, served, two_workers):
    judged.graders["explainer"] = {
        "engine": "vllm",
        "model": str(smollm.model_folder()),
        "prompt": "true_explain",
        "max_model_len": 2048,
        "kv_cache_mib": 192,
        "actors": 1,
        # greedy, or without a penalty, a model this small repeats itself for ever
        "decoding": {"temperature": 0.7, "frequency_penalty": 1.0, "max_tokens": 900},
    }
    project = judged.project
    request = DistilRequest(
        judged.name,
        "nist",
        explaining(project, "explainer"),
        "smol",
        find_prompt(project, "true_distil"),
        per_label=1,
        iterations=2,
    )
    outcome = distilling.distil(project, request, [], lambda line: None)
    assert (outcome.exit_code, outcome.explained, outcome.iterations) == (0, 3, 2)
    rows = judged.lake.rows("select label, explanation from lake.raw.label_rubric_pairs")
    assert sorted(label for label, _ in rows) == [0, 1, 2]
    for _, explanation in rows:
        texts = json.loads(explanation)
        assert list(texts) == list(FEATURES)
        assert all(1 <= len(text) <= LONGEST_REASON for text in texts.values())
    rubrics = judged.lake.rows("select iteration, label, text from lake.raw.label_rubrics")
    assert sorted(row[:2] for row in rubrics) == [(i, n) for i in (1, 2) for n in (0, 1, 2)]
    assert all(1 <= len(text) <= LONGEST_RUBRIC for _, _, text in rubrics)

    # one token, always one of the rubric's labels
    rubric = {"label_rubrics": "smol"}
    direct = grades_of(judged, "direct", by_server(served, "true_direct", **rubric))
    assert {row[2] for row in direct} == {"ok"}
    assert {row[1] for row in direct} <= {0, 1, 2}
    rubric["decoding"] = {"max_tokens": 120}
    reasoned = grades_of(judged, "reasoned", by_server(served, "true_reasoning", **rubric))
    assert all(is_graded_or_says_why(row, 2) for row in reasoned), reasoned
    ids = judged.lake.rows(
        "select distinct label_rubric_id from lake.raw.graders where name in ('direct', 'reasoned')"
    )
    assert ids == [(outcome.rubric_id,)]
