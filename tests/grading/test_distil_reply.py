"""What is read in explanations and rubrics, and what is refused."""

import json

import pytest

from gradelake.grading.prompts.prompt_file import shipped_prompts
from gradelake.grading.prompts.written_reply import (
    FEATURES,
    LONGEST_REASON,
    LONGEST_RUBRIC,
    Unreadable,
    name_of,
    reader_of,
    schema_of,
)

WHOLE = dict.fromkeys(FEATURES, "because")
read_explanation, read_rubric = (
    reader_of(shipped_prompts()[name]) for name in ("true_explain", "true_distil")
)


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"rubric": "on  the\npoint"}),
        '<think>{"rubric": "no"}</think> {"rubric": "on the point"}',
        'Here:\n```json\n{"rubric": "on the point", "label": 3}\n```',
    ],
)
def test_a_rubric_is_one_text_with_single_spaces(reply):
    assert read_rubric(reply) == "on the point"


def test_an_explanation_has_a_text_for_each_of_the_five_features_and_no_more():
    assert read_explanation(json.dumps(WHOLE | {"verdict": "good"})) == WHOLE
    assert list(WHOLE) == ["intent_alignment", "coverage", "specificity", "accuracy", "usefulness"]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        ("no", "no JSON object"),
        (json.dumps({key: WHOLE[key] for key in FEATURES[1:]}), "no key 'intent_alignment'"),
        (json.dumps(WHOLE | {"accuracy": 3}), "accuracy is not text: 3"),
        (json.dumps(WHOLE | {"accuracy": " \n"}), "accuracy is empty"),
        (json.dumps(WHOLE | {"accuracy": "a\0b"}), "accuracy has characters"),
        (json.dumps(WHOLE)[:-5], "breaks off"),
        (f"<think>{json.dumps(WHOLE)}", "ends inside its reasoning"),
    ],
)
def test_a_reply_that_is_no_explanation_says_why(reply, why):
    with pytest.raises(Unreadable, match=why):
        read_explanation(reply)


def test_a_schema_asks_for_the_same_texts_with_bounds_where_an_engine_needs_them():
    prompts = shipped_prompts()
    for name, keys, longest in (
        ("true_explain", FEATURES, LONGEST_REASON),
        ("true_distil", ("rubric",), LONGEST_RUBRIC),
    ):
        free, bounded = (schema_of(prompts[name], bounded) for bounded in (False, True))
        assert tuple(free["properties"]) == tuple(bounded["required"]) == keys
        assert set(map(str, free["properties"].values())) == {"{'type': 'string'}"}
        assert {text["maxLength"] for text in bounded["properties"].values()} == {longest}
    assert [
        name_of(prompts[name]) for name in ("true_explain", "true_distil", "generate_nuggets_dl")
    ] == ["explanation", "rubric", "nuggets"]
