"""UMBRELA and TRUE with a real model that is too small for either: in vLLM, and by its server.

SmolLM2-135M proves the machinery: what it explains, distils and grades means nothing.
"""

import json
from contextlib import closing

import pytest

from gradelake.grading.distil import distil as distilling
from gradelake.grading.distil.distil_store import DistilRequest
from gradelake.grading.graders.configured import configured, explaining
from gradelake.grading.plan.request import Request
from gradelake.grading.prompts.prompt_file import find_prompt
from gradelake.grading.prompts.written_reply import FEATURES, LONGEST_REASON, LONGEST_RUBRIC
from gradelake.grading.run import run as runs
from tests.grading.project import copy_of
from tests.grading.smollm import missing, model_folder

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=str(missing()))]


@pytest.fixture(scope="module")
def judged(judged_lake, tmp_path_factory, two_workers):
    """The tiny collection: five judged passages, with labels 0 to 2."""
    project = copy_of(judged_lake, tmp_path_factory.mktemp("direct") / "project")
    with closing(project):
        yield project


def grades_of(judged, name: str, settings: dict) -> list[tuple]:
    """(passage, grade, status, response, error) of every pair of the pool."""
    judged.graders[name] = settings
    grader = configured(judged.project, judged.lake, name)
    runs.grade(judged.project, Request(judged.name, grader), lambda line: None)
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


@pytest.mark.parametrize("prompt", ["umbrela", "umbrela_few"])
def test_umbrela_gives_every_pair_a_grade_from_0_to_3_or_the_reason_why_not(judged, served, prompt):
    found = grades_of(judged, prompt, by_server(served, prompt))
    assert all(is_graded_or_says_why(row, 3) for row in found), found
    # the grade is what stands at the end of the reply, and nothing from before
    for _, grade, status, response, _ in found:
        if status == "ok":
            assert response.rstrip("*.` \n").endswith(str(grade)) or "final score" in response


def test_true_explains_distils_and_judges(judged, served):
    judged.graders["explainer"] = {
        "engine": "vllm",
        "model": str(model_folder()),
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
