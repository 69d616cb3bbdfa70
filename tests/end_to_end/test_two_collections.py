"""Two collections in one lake: each has its own graders, and a query names its collection.

What the demo's `answers` score is shown by grading/ANSWERS.md, which tests/documentation runs.
"""

import json

import pytest

from tests.command_line import gradelake, json_of

pytestmark = pytest.mark.slow


def test_each_collection_is_planned_for_its_own_graders(demo_answers):
    for collection, graders in {
        "demo": ["lexical_nuggets", "lexical_direct"],  # `lexical` has no questions here
        "answers": ["assigns", "supports", "battles"],  # `meets` has no criteria
    }.items():
        planned = json_of(demo_answers, "plan", collection, "--json")
        assert [plan["grader"] for plan in planned["plans"]] == graders
        assert {each["grader"] for each in planned["refused"]} <= {"lexical", "meets"}
    # named, a grader does what it is asked to: this is how `demo` has some
    named = gradelake(demo_answers, "plan", "demo", "--grader", "assigns", "--json").stdout
    assert json.loads(named)["plans"][0]["graded_pairs"] == 40


def test_a_query_of_one_collection_names_it(demo_answers):
    def shown(*words: str) -> str:
        return json_of(demo_answers, "rubric", "show", *words, "--json")["collection"]

    assert shown("volcanoes") == "answers"
    assert shown("volcano-prediction") == "demo"
    refused = gradelake(demo_answers, "rubric", "show", "volcanos", code=2).stderr
    assert "no collection has the query 'volcanos'\n  Did you mean 'volcanoes'?" in refused
    refused = gradelake(demo_answers, "rubric", "diff", "0", "0", code=2).stderr
    assert "Add --collection, one of: answers, demo" in refused
