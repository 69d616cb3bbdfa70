"""A JSON text that comes in pieces is read like a whole one, and little of it is held."""

import json
import random

import pytest

from gradelake.grading.exchange.json_pieces import Pieces


def in_pieces(text: str, at_most: int, seed: int = 0):
    """The text, cut anywhere."""
    chance = random.Random(seed)
    while text:
        n = chance.randint(1, at_most)
        yield text[:n]
        text = text[n:]


def elements(pieces: Pieces) -> list:
    """The values of a list."""
    assert pieces.takes("[")
    found = []
    while not pieces.takes("]"):
        found.append(pieces.value())
        pieces.takes(",")
    assert pieces.next() == ""
    return found


def test_values_are_the_same_however_the_text_is_cut():
    values = [12345, -1.5e-7, 'a\\"]},é😀', "\ud83d\ude00", {"a": [1, {"b": None}]}, [], True, 0]
    for seed in range(50):
        text = json.dumps(values, ensure_ascii=seed % 2 == 0, indent=seed % 3)
        assert elements(Pieces(in_pieces(text, 1 + seed % 9, seed))) == json.loads(text)


def test_no_more_than_a_value_and_a_piece_is_held():
    held = []

    def pieces():
        yield "["
        for n in range(10_000):
            held.append(len(read._text))
            yield json.dumps({"n": n, "text": "x" * 100}) + ("," if n < 9_999 else "]")

    read = Pieces(pieces())
    assert [value["n"] for value in elements(read)] == list(range(10_000))
    assert max(held) < 1000


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[1, tru", "Expecting value at column 5"),
        ('[1, {"a" 2}]', "Expecting ':' delimiter at column 10"),
        ('["\\ud800"]', "half a character"),
        ("[" * 200_000, "nested too deeply"),
    ],
)
@pytest.mark.parametrize("at_most", [1, 3, 1_000_000])
def test_what_is_no_json_is_told_with_its_column(text, wrong, at_most):
    if at_most == 1 and len(text) > 1000:
        text = text[:200_000]
    with pytest.raises(ValueError, match=wrong):
        elements(Pieces(in_pieces(text, at_most)))


def test_a_value_without_end_is_refused_before_all_of_it_is_held(monkeypatch):
    monkeypatch.setattr("gradelake.sql.common.files.MAX_TEXT_LINE", 1 << 20)
    taken = []

    def pieces():
        yield '["'
        for n in range(1000):
            taken.append(n)
            yield "x" * (1 << 16)

    with pytest.raises(ValueError, match="a value of more than 1 MiB at column 2"):
        elements(Pieces(pieces()))
    assert len(taken) < 100
