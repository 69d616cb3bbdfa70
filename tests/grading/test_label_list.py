"""Lists of labels in replies: one for each item, or none at all."""

import pytest

from gradelake.grading.prompts.label_list import as_list, read_labels, read_list
from gradelake.grading.prompts.parsers import PARSERS
from gradelake.grading.prompts.scale import Scale

SCALE = Scale.parse({"not_support": 0, "partial_support": 1, "support": 2})


def grades(reply: str, n: int) -> list[int | None]:
    return [reading.grade for reading in read_labels(reply, SCALE, n)]


@pytest.mark.parametrize(
    "reply",
    [
        "['support', 'partial_support', 'not_support']",
        '["support", "partial_support", "not_support"]',
        'Labels: ["Support", "Partial Support", "not-support"]',
        "```python\n['support', 'partial_support', 'not_support']\n```",
        "Draft: ['support']. Final: ['support', 'partial_support', 'not_support',]",
        '{"1": "support", "3": "not_support", "2": "partial_support"}',
        "{0: 'support', 1: 'partial_support', 2: 'not_support'}",
        '{"labels": ["support", "partial_support", "not_support"]}',
        "1. support\n2. partial_support\n3. not_support",
        "1) **Support**: it says so\n2) Partial support - half of it\n3) not_support, see [1]",
        "['support', 'partial_support', 'not_support']\nThe last [3] only names it.",
    ],
)
def test_a_list_of_the_right_length_gives_each_item_its_label(reply):
    assert grades(reply, 3) == [2, 1, 0]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("['support', 'support']", "2 labels for 3 items"),
        ("['support', 'support', 'support', 'support']", "4 labels for 3 items"),
        ("support, support, support", "no list of labels in it"),
        ("['support', 'support', 'supp", "no list of labels in it"),
        ('{"1": "support", "2": "support", "4": "support"}', "no list of labels in it"),
        ('{"a": "support", "b": "support", "c": "support"}', "no list of labels in it"),
        ("[__import__('os').abort(), 'support', 'support']", "no list of labels in it"),
        ("", "the reply is empty"),
        ("[" * 30_000, "no list of labels in it"),
    ],
)
def test_any_other_reply_tells_nothing_of_any_item(reply, why):
    readings = read_labels(reply, SCALE, 3)
    assert {(r.grade, r.status, r.error) for r in readings} == {(None, "failed", why)}


def numbers(reply: str, n: int) -> list[int | None]:
    return [reading.grade for reading in read_labels(reply, Scale.parse("0-5"), n)]


@pytest.mark.parametrize(
    "reply",
    [
        "[5, 0, 3]",
        '["5", "0", "3"]',
        "[5.0, 0, 3]",
        "Ratings: [5, 0, 3]. The last is told by [2] alone.",
        '```json\n{"ratings": [5, 0, 3]}\n```',
        '{"1": 5, "2": 0, "3": 3}',
        "1. 5\n2. 0\n3: 3 - in part",
    ],
)
def test_numbers_are_read_as_numbers_or_words_and_citations_are_none(reply):
    assert numbers(reply, 3) == [5, 0, 3]


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("[5, 6, true]", [5, None, None]),
        ("[5, 4.5, null]", [5, None, None]),
        ("[5, 0]", [None] * 3),
        ("[5, 0, 3, 1]", [None] * 3),
        ("5, 0, 3", [None] * 3),
    ],
)
def test_what_is_no_number_of_the_scale_is_no_grade(reply, read):
    assert numbers(reply, 3) == read


def test_of_one_item_a_number_alone_will_do_but_not_beside_another_list():
    assert numbers("4", 1) == numbers("[4]", 1) == numbers("Rating: [4]", 1) == [4]
    assert numbers("[4], as [2] says", 1) == numbers("Between 3 and 4", 1) == [None]


def test_a_label_off_the_scale_fails_alone():
    first, second = read_labels("['support', 'maybe']", SCALE, 2)
    assert (first.grade, second.status) == (2, "failed")
    assert second.error.startswith("'maybe' is not on the scale")
    assert grades("[2, null]", 2) == [None, None]


def test_of_one_item_the_label_alone_will_do():
    assert grades("support", 1) == grades(" **Support**.", 1) == grades("['support']", 1) == [2]
    assert PARSERS["labels"].read("<think>not_support</think>partial_support", SCALE).grade == 1
    assert PARSERS["labels"].read("It is a support group.", SCALE).status == "failed"


def test_items_are_shown_as_nuggetizer_shows_them():
    assert as_list(["It's so", 'say "b"']) == """["It's so", 'say "b"']"""


@pytest.mark.parametrize(
    "reply",
    [
        "['a [1]', \"it's\"]",
        '["a [1]", "it\'s"]',
        'Here is the [updated] list:\n["a [1]", "it\'s",]\nDone.',
        "```python\n['a [1]', \"it's\"]\n```",
        "Draft: ['b'].\nFinal: ['a [1]', \"it's\"]",
    ],
)
def test_a_list_of_texts_is_found_whatever_stands_around_it(reply):
    assert read_list(reply) == ["a [1]", "it's"]


@pytest.mark.parametrize("reply", ["", "none", "['a', 'b", "a, b]", "[" * 30_000, "{'a': 1}"])
def test_what_is_no_list_or_breaks_off_is_none(reply):
    assert read_list(reply) is None
