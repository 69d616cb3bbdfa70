"""A line of a sheet carries every text, and says what is wrong with one that a person broke."""

import random
import re

import pytest

from gradelake.ingest.rubric.items import cleaned, number, short_ids
from gradelake.ingest.rubric.line import Fields, read_fields, take_token, write_fields, write_token

# what lines, quotes, comments, columns and answers are made of, and what editors may swallow
PIECES = [
    '"',
    "'",
    "#",
    "+",
    "@",
    "|",
    "\\",
    "\\n",
    "\n",
    "\r",
    "\r\n",
    "\t",
    " ",
    "  ",
    ",",
    ";",
    "[",
    "]",
    "[answers: ",
    " [answers: ",
    "]]",
    "a",
    "Why?",
    "1",
    "0.5",
    "question",
    "nugget",
    "@query",
    "é",
    "日本",
    "🙂",
    "👩\u200d🔬",
    "\u200b",
    "\u2028",
    "\x85",
    "\x0b",
    "\x0c",
    "\x1b[31m",
    "\ufeff",
    "\u202e",
    "\xa0",
    "%s",
    "{}",
    "$HOME",
    "`",
    "null",
    "NaN",
    "-",
    "{+",
    "+}",
]


def nasty(chance: random.Random, most: int = 8) -> str:
    return "".join(chance.choices(PIECES, k=chance.randint(0, most)))


def test_every_text_weight_and_answer_survives_a_line():
    chance = random.Random(7)
    for _ in range(20_000):
        fields = Fields(
            chance.choice([0.0, 0.5, 1.0, 2.0, 1e-7, 12345.678, 1e22]),
            chance.choice(["question", "nugget"]),
            nasty(chance).strip(),
            cleaned(nasty(chance, 4) for _ in range(chance.randint(0, 3))),
        )
        line = write_fields(fields, (chance.randint(0, 8), chance.randint(0, 8)))
        assert "\n" not in line
        assert "\r" not in line
        assert read_fields(line) == fields, line


def test_every_id_survives_as_one_word():
    chance = random.Random(8)
    for _ in range(20_000):
        token = nasty(chance, 5) or "x"
        word = write_token(token)
        assert len(word.split()) == 1, word
        assert word[0] not in "#+@"
        assert take_token(f"  {word}  the rest ") == (
            token,
            "the rest " if word[0] != '"' else "the rest",
        )


def test_a_plain_text_is_written_as_it_is():
    assert write_fields(Fields(1.0, "question", 'Is "blue" #1, or not?', ("yes|no", "a\\b"))) == (
        '1  question  Is "blue" #1, or not? [answers: yes\\|no|a\\\\b]'
    )


def test_a_text_of_several_lines_is_written_as_a_json_string():
    assert write_fields(Fields(0.5, "nugget", 'one\n"two"\u2028', ())) == (
        '0.5  nugget  "one\\n\\"two\\"\\u2028"'
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("heavy question Why?", "weight 'heavy' is not a number"),
        ("nan question Why?", "weight 'nan' is not a number"),
        ("inf question Why?", "weight 'inf' is not a number"),
        ("1_0 question Why?", "weight '1_0' is not a number"),
        ("0,5 question Why?", "weight '0,5' is not a number"),
        ("-1 question Why?", "weight -1 is negative"),
        ("1 Why is it?", "expected question or nugget, not 'Why'"),
        ("1", "expected question or nugget, not ''"),
        ("", "something is missing"),
        ('1 question "Blue" is what?', "'is what?' follows the closing quote"),
        ('1 question "Blue', "a quoted text that cannot be read"),
        ("1 question Why? [answers: air", "do not end with a ]"),
        ('1 question "\\u0000"', "null character"),
        ('1 question "\\ud800"', "half a character"),
    ],
)
def test_a_line_that_cannot_be_read_says_why(line, problem):
    with pytest.raises(ValueError, match=re.escape(problem)):
        read_fields(line)


def test_a_new_items_weight_may_be_left_out():
    assert read_fields("question 3 what?", weight_may_miss=True) == (1.0, "question", "3 what?", ())
    assert read_fields("3 question what?", weight_may_miss=True) == (3.0, "question", "what?", ())


def test_answers_are_stripped_and_each_counts_once():
    assert read_fields("1 question Why? [answers: air |  air|a\\|b | ]").gold_answers == (
        "air",
        "a|b",
    )


def test_weights_are_written_as_people_do():
    assert [number(w) for w in (1, 1.0, 0.5, 2.25, 0)] == ["1", "1", "0.5", "2.25", "0"]


def test_a_short_id_is_the_shortest_unique_beginning_of_eight_characters_or_more():
    same = "0123456789"
    one, other, far = f"{same}a{'0' * 21}", f"{same}b{'0' * 21}", "f" * 32
    assert short_ids([f"q/{one}", f"q/{other}", f"q/{far}"]) == {
        f"q/{one}": f"{same}a",
        f"q/{other}": f"{same}b",
        f"q/{far}": "f" * 8,
    }


def test_foreign_ids_and_ids_that_facets_share_stay_whole():
    md5 = "0" * 32
    assert short_ids(["q1/n-3", f"q1/f1/{md5}", f"q1/f2/{md5}"]) == {
        "q1/n-3": "n-3",
        f"q1/f1/{md5}": f"q1/f1/{md5}",
        f"q1/f2/{md5}": f"q1/f2/{md5}",
    }
