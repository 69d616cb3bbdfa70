"""What counts as a reply with rubric items, and what is read in it."""

import json
import re

import pytest

from gradelake.grading.prompts.prompt_file import shipped_prompts
from gradelake.grading.prompts.written_reply import Items, Unreadable, read_items, schema_of

QUESTIONS = shipped_prompts()["generate_questions_dl"]
NUGGETS = shipped_prompts()["generate_nuggets_dl"]


def questions(reply: str) -> tuple[str, ...]:
    return read_items(reply, QUESTIONS).texts


def refusal(reply: str) -> str:
    with pytest.raises(Unreadable) as caught:
        read_items(reply, QUESTIONS)
    return str(caught.value)


def listed(*texts) -> str:
    return json.dumps({"questions": texts})


@pytest.mark.parametrize(
    "reply",
    [
        '{"questions": ["Why?", "How?"]}',
        ' {"questions": ["Why?", "How?"], "topic": "sky"}\n',
        '```json\n{"questions": ["Why?", "How?"]}\n```',
        '```\n{"questions": ["Why?", "How?"]}\n```',
        'Here they are:\n\n```json\n{"questions": ["Why?", "How?"]}\n```\nDoes this help?',
        'Here they are: {"questions": ["Why?", "How?"]} Does this help?',
        '<think>{"questions": ["no"]} hm</think>{"questions": ["Why?", "How?"]}',
        '{"questions": [" Why? ", "\\tHow?\\n"]}',
    ],
)
def test_an_object_is_read_alone_fenced_or_among_words(reply):
    assert questions(reply) == ("Why?", "How?")


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "the reply is empty"),
        ("1. Why? 2. How?", r"the reply holds no JSON object: '1\. Why\? 2\. How\?'"),
        ('["Why?"]', "the reply holds no JSON object"),
        ('{"questions": ["Why?", "How', "breaks off in its JSON; allow more max_tokens"),
        ('{"questions": ["Why?",', "breaks off in its JSON; allow more max_tokens"),
        ("{'questions': ['Why?']}", "is not JSON: Expecting property name .* near"),
        ('{"nuggets": ["blue light"]}', "no key 'questions' \\(its keys: 'nuggets'\\)"),
        ("{}", "no key 'questions' \\(its keys: none\\)"),
        ('{"questions": "Why?"}', "questions is not a list: 'Why\\?'"),
        ('{"questions": ["Why?", {"q": "How?"}]}', "questions 2 is not text: {'q': 'How\\?'}"),
        ('{"questions": [7]}', "questions 1 is not text: 7"),
        ('{"questions": []}', "questions is an empty list"),
        ('{"questions": ["", "  "]}', "questions holds no text"),
        ("<think>Let me see", "ends inside its reasoning"),
        ('{"questions": ' + "[" * 100_000, "too deep|breaks off"),
    ],
)
def test_anything_else_is_unreadable_and_says_why(reply, why):
    assert re.search(why, refusal(reply)), refusal(reply)


def test_a_text_that_comes_again_is_dropped_whatever_its_case_and_spaces():
    found = read_items(listed("Why blue?", "why  BLUE? ", "How?", "Why\nblue?"), QUESTIONS)
    assert found == Items(("Why blue?", "How?"), duplicates=("why  BLUE?", "Why\nblue?"))


def test_empty_texts_are_dropped_and_counted():
    assert read_items(listed("", "Why?", " \n"), QUESTIONS) == Items(("Why?",), empty=2)


def test_texts_with_half_characters_or_nulls_are_dropped_and_counted():
    reply = '{"questions": ["Why?", "\\ud83d", "null \\u0000"]}'
    assert read_items(reply, QUESTIONS) == Items(("Why?",), unusable=2)


def test_nuggets_of_more_than_four_words_are_kept_and_pointed_out():
    reply = '{"nuggets": ["air scatters blue light", "air scatters much more blue"]}'
    found = read_items(reply, NUGGETS)
    assert len(found.texts) == 2
    assert found.long_nuggets == ("air scatters much more blue",)
    assert read_items(listed("a b c d e"), QUESTIONS).long_nuggets == ()


def test_the_schema_asks_for_one_key_with_a_list_of_texts():
    assert schema_of(NUGGETS, bounded=False) == {
        "type": "object",
        "properties": {"nuggets": {"type": "array", "items": {"type": "string"}}},
        "required": ["nuggets"],
        "additionalProperties": False,
    }
    bounded = schema_of(QUESTIONS, bounded=True)["properties"]["questions"]
    assert (bounded["minItems"], bounded["maxItems"]) == (1, 20)
    assert bounded["items"] == {"type": "string", "minLength": 1, "maxLength": 250}
