"""Judges of four criteria, their sum, and a fifth that is shown what they said."""

import json
import re
from contextlib import closing

import pytest

from gradelake.grading.graders.configured import configured
from gradelake.grading.plan.planner import GradingPlan
from gradelake.grading.plan.request import GradingRequest
from gradelake.sql.common.errors import BadInput
from tests.grading.project import copy_of

pytestmark = pytest.mark.slow

# what is shown -> the grader that says it
CRITERIA = {
    "Exactness": "exactness",
    "Topicality": "topicality",
    "Coverage": "coverage",
    "Contextual Fit": "contextual_fit",
}

# An engine that writes down what it is asked, and always says 2
SHOWN = """
def score(self, prompts):
    note(*(json.dumps(prompt.text) for prompt in prompts))
    return [Response("2") for _ in prompts]
"""
# An engine that grades by the length of its prompt; it fails on coverage of what is about steel
GRADES = """
def score(self, prompts):
    return [self.answer(prompt) for prompt in prompts]

def answer(self, prompt):
    if "steel" in prompt.text and "Coverage" in prompt.text:
        return Response(error="not now")
    return Response(str(len(prompt.text) % 4))
"""


@pytest.fixture
def judged(tmp_path, judged_lake):
    with closing(copy_of(judged_lake, tmp_path / "project")) as project:
        project.engine("grades", GRADES)
        project.engine("shown", SHOWN)
        for grader in CRITERIA.values():
            project.graders[grader] = {
                "engine": "grades",
                "prompt": f"criteria_{grader}",
                "actors": 1,
            }
        project.graders["summed_up"] = {
            "engine": "shown",
            "prompt": "criteria_prompt",
            "scores_from": CRITERIA,
            "actors": 1,
        }
        yield project


def missing(judged) -> int:
    grader = configured(judged.project, judged.lake, "summed_up")
    return GradingPlan(judged.lake, GradingRequest(judged.name, grader)).totals.missing


def test_the_fifth_judge_is_shown_the_four_scores_once_all_are_there(judged):
    assert missing(judged) == 0, "nothing to show yet"
    said: dict[tuple, list[str]] = {}
    for shown, grader in CRITERIA.items():
        judged.grade_as_told(grader)
        for (query, passage, _), (score, _) in judged.grades(grader).items():
            if score is not None:
                said.setdefault((query, passage), []).append(f"{shown}: {score}")
    whole = {pair: lines for pair, lines in said.items() if len(lines) == 4}
    assert len(said) == 5
    assert len(whole) == 4, "one passage has no Coverage"
    assert missing(judged) == 4
    judged.grade_as_told("summed_up")
    assert {key[:2] for key in judged.grades("summed_up")} == set(whole)
    asked = [json.loads(line) for line in judged.asked()]
    assert len(asked) == 3, "p1 and p5 are one text with the same scores"
    for lines in whole.values():
        assert any("\n\n" + "\n".join(lines) + "\nScore:" in prompt for prompt in asked)


def test_whose_scores_they_are_is_part_of_the_grader(judged):
    before = configured(judged.project, judged.lake, "summed_up").grader_id
    judged.graders["coverage"]["decoding"] = {"temperature": 0.5}
    assert configured(judged.project, judged.lake, "summed_up").grader_id != before


def test_scores_of_nobody_are_refused(judged):
    """Nor of a grader that waits for the scores of this one."""
    summed_up = judged.graders["summed_up"]
    judged.graders["again"] = summed_up | {"scores_from": {"Sum": "summed_up"}}
    for stated, words in (
        ({"scores_from": {"Coverage": "nobody"}}, "Coverage: no grader 'nobody' grades whole"),
        ({"scores_from": {"Coverage": "summed_up"}}, "no grader 'summed_up' grades whole"),
        ({"scores_from": {"Coverage": "again"}}, "no grader 'again' grades whole"),
        ({"scores_from": {"Coverage": "lexical"}}, "no grader 'lexical' grades whole"),
        ({"scores_from": {}}, "'criteria_prompt' shows scores, whose?"),
        ({"prompt": "thomas"}, "'thomas' has no place for scores"),
    ):
        judged.graders["summed_up"] = summed_up | stated
        with pytest.raises(BadInput, match=re.escape(words)):
            configured(judged.project, judged.lake, "summed_up")
