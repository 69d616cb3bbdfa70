"""What an answer makes of the review that stands: the rule itself, without a lake."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradelake.grading.review.revise import Review, ReviewAnswer, Undo, revise

NOW = datetime(2026, 1, 31, 9)
BLIND = Review(3, "disagree", 1, None, 1, 5.0, None, NOW)
OPEN = Review(3, "disagree", 1, "why", None, 5.0, None, NOW)


def after(standing: Review | None, answer: ReviewAnswer | Undo) -> tuple | None:
    """verdict, own_grade, note, blind_grade, seconds, settles; None: no review stands."""
    made = revise(standing, answer, NOW)
    return made and tuple(vars(made).values())[1:-1]


@pytest.mark.parametrize(
    ("standing", "answer", "expected"),
    [
        # a first answer
        (None, ReviewAnswer(3, 3, is_blind=True), ("agree", None, None, 3, None, None)),
        (None, ReviewAnswer(3, 1, " a\x1b \n b ", 2.5), ("disagree", 1, "a b", None, 2.5, None)),
        (None, ReviewAnswer(3, None), ("disagree", None, None, None, None, None)),
        # what was blind first stays, and what it took
        (BLIND, ReviewAnswer(3, 3, None, 9), ("agree", None, None, 1, 5.0, None)),
        (BLIND, ReviewAnswer(3, 2, None, 9, is_blind=True), ("disagree", 2, None, 1, 9, None)),
        (OPEN, ReviewAnswer(3, 3, None, 9, is_blind=True), ("agree", None, None, None, 9, None)),
        # the grader's grade is another: a first answer again
        (BLIND, ReviewAnswer(4, 2, None, 9, is_blind=True), ("disagree", 2, None, 2, 9, None)),
        (BLIND, ReviewAnswer(4, 4, None, 9), ("agree", None, None, None, 9, None)),
        # settling
        (None, ReviewAnswer(3, 3, settles=True), ("agree", None, None, None, None, True)),
        (replace(OPEN, settles=True), ReviewAnswer(3, 2), ("disagree", 2, *[None] * 4)),
        # taking back
        (OPEN, Undo(3), None),
        (BLIND, Undo(3, before=OPEN), ("disagree", 1, "why", None, 5.0, None)),
        (None, Undo(3), None),
    ],
)
def test_an_answer_makes_a_review(standing, answer, expected):
    assert after(standing, answer) == expected


def test_some_answers_change_nothing():
    later, earlier = NOW + timedelta(1), NOW - timedelta(1)
    for standing, answer in (
        (OPEN, ReviewAnswer(3, 1, "why", 9, at=later)),  # says what stands
        (OPEN, ReviewAnswer(3, 1, "why", 9, at=earlier)),
        (OPEN, ReviewAnswer(3, 2, at=earlier)),  # is older
        (OPEN, Undo(3, at=earlier)),
        (BLIND, Undo(3)),  # the grader's grade was seen since
        (OPEN, Undo(3, is_blind=True)),
    ):
        assert revise(standing, answer, NOW) is standing


def test_what_arrives_now_is_the_newest_whatever_the_clock_says():
    made = revise(OPEN, ReviewAnswer(3, 2), NOW - timedelta(1))
    assert made
    assert made.own_grade == 2


answers = st.lists(
    st.builds(
        ReviewAnswer,
        grade=st.integers(2, 3),
        opinion=st.none() | st.integers(0, 5),
        note=st.sampled_from([None, "a", " a ", "b"]),
        is_blind=st.booleans(),
        settles=st.booleans(),
    )
    | st.builds(Undo, grade=st.integers(2, 3), is_blind=st.just(True)),
    max_size=8,
)


@given(before=st.sampled_from([None, BLIND, OPEN]), answers=answers, seen=st.integers(0, 8))
def test_a_journal_that_is_applied_again_changes_nothing(before, answers, seen):
    """Also where the lake had only its first answers by then."""
    timed = [replace(each, at=NOW + timedelta(seconds=n + 1)) for n, each in enumerate(answers)]
    once = twice = before
    for answer in timed:
        once = revise(once, answer, NOW)
    for answer in (*timed[:seen], *timed):
        twice = revise(twice, answer, NOW)
    assert twice == once
