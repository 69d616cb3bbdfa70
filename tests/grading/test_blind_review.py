"""Who reviews blind grades before the grader's grade is shown, and counts before and after."""

import re
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from gradelake.grading.review.cards import Assignment, deal, find_grader
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.grading import reviewing
from tests.reading import live

pytestmark = pytest.mark.slow

SAID = (
    "select grade, blind_grade, verdict, own_grade from lake.raw.grade_reviews "
    "where assessor = ? order by reviewed_at"
)


def review(folder: Path, assessor: str, *lines: object) -> str:
    """What is shown to who types these lines."""
    return reviewing.review(folder, assessor, lines, "--grader", "lexical", "--blind").stdout


def alpha_of(cards: np.ndarray, metric: str) -> float:
    return krippendorff.alpha(cards, level_of_measurement=metric)


def grades_of_deck(folder: Path, n: int) -> list[int]:
    """The grader's grades of the first cards of a blind review, in order."""
    with Lake.live(Project.find(folder)) as lake:
        assignment = Assignment("demo", find_grader(lake, "lexical"), "eve", 4, blind=True)
        return [card.grade for card in deal(lake, assignment).cards[:n]]


def test_the_grade_is_shown_after_the_persons_own_which_may_be_changed_then(folder):
    first, second, third = grades_of_deck(folder, 3)
    other = 0 if second else 1
    shown = review(folder, "ann", first, other, "", third - 1 if third else 1, third, "q")
    card, *_ = shown.split("your grade")
    assert "Passage" in card
    assert not re.search(r"^(Grade|Answer) ", card, re.MULTILINE), "nothing tells the grade"
    assert len(re.findall(r"^Grade +\d  \(of 0 to 5", shown, re.MULTILINE)) == 3
    assert f"Enter to stay with your {other}" in shown
    assert live(folder).rows(SAID, "ann") == [
        (first, first, "agree", None),
        (second, other, "disagree", other),
        (third, third - 1 if third else 1, "agree", None),
    ]
    assert "a grade of both, before the grader's was shown: " in shown
    assert "a grade of both, after the grader's was shown: " in shown


def test_a_cards_place_does_not_tell_its_grade(folder):
    """Dealt openly, grades come in a pattern: 5, 4, 3, 2, 5, 1, 4 and so on."""
    with Lake.live(Project.find(folder)) as lake:
        grader = find_grader(lake, "lexical")
        openly, blind = (
            [
                (card.grade, card.item_id, card.passage_id)
                for card in deal(
                    lake, Assignment("demo", grader, "eve", 4, sample=210, blind=each)
                ).cards
            ]
            for each in (False, True)
        )
    assert sorted(openly) == sorted(blind), "the same cards"
    for block in range(0, 210, 21):
        grades = [grade for grade, *_ in blind[block : block + 21]]
        assert grades != [grade for grade, *_ in openly[block : block + 21]]
    places = [
        sum(block[place][0] for block in (blind[at : at + 21] for at in range(0, 210, 21))) / 10
        for place in range(21)
    ]
    assert max(places) < 5, "no place has the top grade each time"


def test_reviewed_grades_are_not_shown_blind_again(folder):
    done = gradelake(
        folder,
        *("review", "demo", "--grader", "lexical", "--assessor", "ann", "--blind", "--again"),
        code=2,
    )
    assert "--again shows grades that you have seen" in done.stderr


def test_agreement_of_people_is_that_of_scikit_learn_before_and_after(folder):
    n = 18
    given = grades_of_deck(folder, n)
    said = {
        "ann": [(7 * i) % 6 for i in range(n)],
        "bob": [(7 * i + i % 3) % 6 for i in range(n)],
        "cat": [(5 * i) % 6 for i in range(n - 8)],
    }
    for assessor, blind in said.items():
        lines = []
        for grade, own in zip(given, blind, strict=False):
            lines += [own] if own == grade else [own, ""]
        review(folder, assessor, *lines, "q")
    for tau in (1, 4):
        answered = {name: [own >= tau for own in blind] for name, blind in said.items()}
        found = live(folder).rows(
            "select assessor, other_assessor, n_graded, kappa from lake.marts.assessor_agreement "
            "where reveal = 'before' and tau = ? order by all",
            tau,
        )
        expected = []
        for ours, theirs in (("ann", "bob"), ("ann", "cat"), ("bob", "cat")):
            shared = min(len(said[ours]), len(said[theirs]))
            kappa = cohen_kappa_score(answered[ours][:shared], answered[theirs][:shared])
            expected.append((ours, theirs, shared, pytest.approx(kappa)))
        assert found == expected
        ((n_assessors, n_graded, alpha, graded_alpha),) = live(folder).rows(
            "select n_assessors, n_graded, alpha, graded_alpha from lake.marts.assessor_alpha "
            "where reveal = 'before' and tau = ?",
            tau,
        )
        cards = np.full((3, n), np.nan)
        for row, blind in enumerate(said.values()):
            cards[row, : len(blind)] = blind
        of_answers = np.where(np.isnan(cards), np.nan, cards >= tau)
        assert (n_assessors, n_graded) == (3, n)
        assert alpha == pytest.approx(alpha_of(of_answers, "nominal"))
        assert graded_alpha == pytest.approx(alpha_of(cards, "interval"))
        ((kappa,),) = live(folder).rows(
            "select kappa from lake.marts.review_agreement "
            "where assessor = 'cat' and reveal = 'before' and tau = ?",
            tau,
        )
        ours = [grade >= tau for grade in given[: n - 8]]
        assert kappa == pytest.approx(cohen_kappa_score(ours, answered["cat"]))
    ((both,),) = live(folder).rows("select count(distinct reveal) from lake.marts.assessor_alpha")
    assert both == 2
