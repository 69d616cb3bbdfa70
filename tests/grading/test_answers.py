"""When an extracted answer is the gold answer."""

import pytest

from gradelake.grading.prompts.answers import is_ill_formed, matches, normalise, stopwords


@pytest.mark.parametrize(
    ("answer", "normalised"),
    [
        ("The Epidermis.", "epidermi"),  # as Porter stems it
        ("the flowing of the rivers", "flow river"),
        ("don't", ""),
        ("U.S.A.", "usa"),
        ("The Who", ""),
    ],
)
def test_answers_are_lowered_stripped_of_punctuation_and_stopwords_and_stemmed(answer, normalised):
    assert normalise(answer) == normalised


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("Epidermis.", ["the epidermis"], True),
        ("epiderm", ["the epidermis"], True),
        ("epidermis layer", ["the epidermis"], False),
        ("an epidermis", ["dermis", "the epidermis"], True),
        # distance 1 of 5 characters is 20%, which is not less than 20%; 1 of 6 is
        ("abcdx", ["abcdz"], False),
        ("abcdfx", ["abcdfz"], True),
        ("1984", ["1985"], False),
        ("", ["the epidermis"], False),
        ("...", ["the epidermis"], False),
        ("the epidermis", [], False),
        ("the epidermis", ["", " "], False),
        # signs of numbers and units
        ("1.5", ["15"], False),
        ("1.5", ["1,5"], True),
        (".5", ["5"], False),
        ("1,000", ["1000"], True),
        ("-40", ["40"], False),
        ("\u221240", ["-40"], True),
        ("3/4", ["34"], False),
        ("10 m/s", ["10 ms"], False),
        ("10 m/s.", ["10 m/s"], True),
        ("10:30", ["1030"], False),
        ("about 40.", ["about 40"], True),
        ("well-known", ["wellknown"], True),
        # what says that there is no answer, or is none, may be one
        ("no", ["no"], True),
        ("a", ["A"], True),
        ("IV", ["iv"], True),
    ],
)
def test_an_answer_matches_within_a_fifth_of_the_longer_one(answer, gold, same):
    assert matches(answer, gold) is same


def test_answers_of_stopwords_only_are_compared_as_they_are():
    assert matches("the WHO!", ["The Who"])
    assert not matches("not the", ["The Who"])
    assert not matches("it", ["The Who"])


@pytest.mark.parametrize("answer", ["True.", "yes", "Correct"])
def test_a_sole_true_accepts_yes_and_correct(answer):
    assert matches(answer, ["true"])
    assert not matches(answer, ["false"])


def test_true_beside_other_gold_answers_is_an_answer_like_any_other():
    assert not matches("yes", ["true", "genuine"])


def test_signs_that_are_only_punctuation_match_when_equal():
    assert matches("+", ["+"])
    assert not matches("-", ["+"])


@pytest.mark.parametrize("answer", ["a.", "(iii)", "b)", "[D]", "(a", "iv.", "", "  ", "...", "-"])
def test_option_letters_and_punctuation_are_ill_formed(answer):
    assert is_ill_formed(answer)


@pytest.mark.parametrize(
    "answer", ["Rome", "5", "an eye", "(vitamin C)", "no", "e.", "C", "a", "I", "iv"]
)
def test_other_answers_are_well_formed(answer):
    assert not is_ill_formed(answer)


def test_the_stopwords_hold_common_words_and_no_loose_letters():
    words = stopwords()
    assert {"the", "is", "not", "dont"} <= words
    assert {word for word in words if len(word) == 1} == {"a", "i"}
