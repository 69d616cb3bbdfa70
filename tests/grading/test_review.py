"""People review grades: verdicts stay, no grade changes, and the numbers are scikit-learn's."""

import json
import os
import random
import re
import signal
from collections import Counter
from pathlib import Path

import pytest
from click.testing import Result
from rich.cells import cell_len
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score

from gradelake.grading.review.cards import Assignment, Card, choose_tau, deal, find_grader
from gradelake.grading.review.revise import ReviewAnswer, ReviewKey
from gradelake.grading.review.screen import _lines
from gradelake.grading.review.verdicts import Verdicts
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.keys import KEYS
from gradelake.sql.lake.opening import Lake
from gradelake.sql.operations.doctor import repeated_keys
from tests.command_line import gradelake, json_of
from tests.edits import edit, write_edits
from tests.grading import reviewing
from tests.grading.typed_review import ASKED, TypedReview
from tests.reading import live

pytestmark = pytest.mark.slow

GRADES = "select grader_id, query_id, passage_id, item_id, grade from lake.raw.grades order by all"
REVIEWS = (
    "select assessor, grade, verdict, own_grade, note from lake.raw.grade_reviews "
    "order by reviewed_at"
)
CARD = re.compile(r"^([\d,]+) of ([\d,]+) {3}(\S+) {3}(\S+)$", re.MULTILINE)


def review(folder: Path, answers: str, *options: str, assessor: str = "ann") -> Result:
    """Answer the cards: a letter is a key and a line; the rest, between commas, a line."""
    lines = answers.split(",") if answers else ()
    return reviewing.review(folder, assessor, lines, "--grader", "lexical", *options, fails=True)


def done(result: Result) -> str:
    """What a review showed that went well."""
    if result.exception:
        raise result.exception
    return result.stdout


def cards(shown: str) -> list[tuple[str, str]]:
    """(query, passage) of the cards, in order."""
    return [(query, passage) for _, _, query, passage in CARD.findall(shown)]


def grades_shown(shown: str) -> list[int]:
    return [int(grade) for grade in re.findall(r"^Grade +(\d)", shown, re.MULTILINE)]


def mart(folder: Path) -> list[dict]:
    """What `review_agreement` says of ann, a row per tau."""
    said = "select * from lake.marts.review_agreement where assessor = 'ann' order by tau"
    return live(folder).frame(said).to_dicts()


def deck(lake: Lake, assessor: str = "ann", tau: int = 4, **options) -> list[Card]:
    """The cards that the grader `lexical` comes to."""
    assignment = Assignment("demo", find_grader(lake, "lexical"), assessor, tau, **options)
    return deal(lake, assignment).cards


def shown(card: Card) -> tuple:
    return card.query_id, card.passage_id, card.item_id, card.grade


def answered(folder: Path, *opinions: int | str | None, note: str | None = None) -> list[Card]:
    """Ann's answers to the first cards, which nobody shows her; "agree" is the grader's grade."""
    with Lake.writer(Project.find(folder)) as lake:
        assignment = Assignment("demo", find_grader(lake, "lexical"), "ann", 4)
        first = deal(lake, assignment).cards[: len(opinions)]
        for card, opinion in zip(first, opinions, strict=True):
            own = card.grade if opinion == "agree" else opinion
            Verdicts(lake, assignment).put(card, ReviewAnswer(card.grade, own, note))
    return first


# --- what a sitting leaves ------------------------------------------------------------------------


def test_verdicts_are_kept_and_no_grade_changes(folder):
    before = live(folder).rows(GRADES)
    shown = done(review(folder, "a,d,1,n,says it well,a,s,d,,q"))
    grades = grades_shown(shown)
    assert len(cards(shown)) == 7, "five were answered, one twice for its note, and one was left"
    assert live(folder).rows(REVIEWS) == [
        ("ann", grades[0], "agree", None, None),
        ("ann", grades[1], "disagree", 1, None),
        ("ann", grades[2], "agree", None, "says it well"),
        ("ann", grades[5], "disagree", None, None),
    ]
    assert "reviewed 4 now: 2 agreed with, 2 not, 1 skipped; 2,815 left" in shown
    assert "ann on lexical, demo: 4 reviewed, 2 agreed with (50%)" in shown
    assert live(folder).rows(GRADES) == before
    newest = json_of(folder, "log", "--json")["commits"][:2]
    assert newest[0]["message"] == "review demo lexical ann: 4 reviews", "a line for a sitting"
    assert not newest[1]["message"].startswith("review")
    files = (folder / "lake" / "data" / "raw" / "grade_reviews").rglob("*.parquet")
    assert not list(files), "so few rows are kept in the catalog: no file for each"


# --- changing one's mind --------------------------------------------------------------------------


def test_undo_takes_a_verdict_back_and_the_next_sitting_goes_on_with_what_is_left(folder):
    shown = done(review(folder, "u,a,n,hm,a,s,u,u,q"))
    seen = cards(shown)
    assert "this is the first card" in shown
    assert seen[-1] == seen[1], "over the skipped one, back to the second"
    assert "Note      hm" in shown.rpartition("-" * 80)[2], "with what was noted on it"
    assert len(live(folder).rows(REVIEWS)) == 1
    after = done(review(folder, "s,q"))
    assert [cards(after)[0], CARD.findall(after)[0][1]] == [seen[1], "2,818"]


def test_a_second_verdict_takes_the_place_of_the_first_and_undo_brings_it_back(folder):
    grade = grades_shown(done(review(folder, "n,first,d,1,q")))[0]
    shown = done(review(folder, "a,q", "--again"))
    assert "You said  disagree, it should be 1" in shown
    assert "1 of 2,819" in shown, "all cards are shown again"
    assert "2,818 left" in shown, "one was reviewed before"
    assert live(folder).rows(REVIEWS) == [("ann", grade, "agree", None, "first")]
    done(review(folder, "d,2,u,q", "--again"))
    assert live(folder).rows(REVIEWS) == [("ann", grade, "agree", None, "first")]
    with Lake.live(Project.find(folder)) as lake:
        assert list(repeated_keys(lake, ["grade_reviews"])) == []


def test_one_who_disagrees_cannot_give_the_same_grade_and_can_go_back(folder):
    (card,) = answered(folder, "agree")
    wrong = review(folder, f"d,b,d,{card.grade}", "--again")
    assert isinstance(wrong.exception, BadInput)
    assert wrong.exception.exit_code == 2
    assert f"line 4: '{card.grade}' is not one of" in wrong.exception.message
    assert live(folder).rows(REVIEWS) == [("ann", card.grade, "agree", None, None)]


# --- which grades ---------------------------------------------------------------------------------


def test_a_seed_gives_the_same_cards_to_everybody_high_grades_more_often_but_not_only(folder):
    with Lake.writer(Project.find(folder)) as lake:
        first, bobs, other = (
            [shown(card) for card in deck(lake, seed=seed, assessor=who)]
            for who, seed in (("ann", 7), ("bob", 7), ("ann", 8))
        )
        some = [shown(card) for card in deck(lake, seed=7, sample=6)]
    assert len(first) == 2_000
    assert bobs == first
    assert some == first[:6]
    assert {tuple(card) for card in other[:20]} != {tuple(card) for card in first[:20]}
    there = Counter(grade for *_, grade in first[:42])
    plenty = [grade for grade in range(5) if there[grade] < 40 and grade != 5]
    assert there[5] == 3, "all that there are: the demo's grader is shy of high grades"
    assert sorted(plenty, key=lambda grade: there[grade]) == plenty, "the higher the more"
    assert there[0] >= 1
    assert {grade for *_, grade in first[:6]} == {1, 2, 3, 4, 5}


def test_a_review_goes_on_with_its_sample(folder):
    shown = done(review(folder, "a,a,a", "--sample", "4", "--seed", "7"))
    assert "reviewed 3 now: 3 agreed with, 0 not; 1 left" in shown, "the input ended"
    shown = done(review(folder, "a", "--sample", "4", "--seed", "7"))
    assert len(cards(shown)) == 1
    assert "reviewed 1 now: 1 agreed with, 0 not; 0 left" in shown
    assert "ann on lexical, demo: 4 reviewed, 4 agreed with (100%)" in shown


def test_a_query_an_item_or_answered_grades_alone(folder):
    with Lake.writer(Project.find(folder)) as lake:
        query, item, n = lake.rows(
            "select query_id, item_id, count(*) from lake.raw.grades group by all "
            "having max(grade) = 4 and length(item_id) > 0 order by all limit 1"
        )[0]
        assert {card.query_id for card in deck(lake, query_id=query)} == {query}
        assert [card.item_id for card in deck(lake, item_id=item.split("/")[-1][:8])] == [item] * n
        answered = {card.grade for card in deck(lake, only_answered=True, tau=3)}
    assert answered == {3, 4, 5}
    shown = done(review(folder, "a,a,q", "--only-answered", "--item", item, "--query", query))
    assert {grade >= 4 for grade in grades_shown(shown)} == {True}
    assert "kappa undefined (one of two answers only), precision 1.000, recall 1.000" in shown


def test_what_cannot_be_reviewed_is_refused_by_name(folder):
    with Lake.writer(Project.find(folder)) as lake:
        for refused, told in (
            (lambda: find_grader(lake, "lexica"), "Did you mean 'lexical'?"),
            (lambda: find_grader(lake, "lexical_direct"), "does not grade rubric items"),
            (lambda: deck(lake, query_id="nil"), "demo has no query 'nil'"),
            (lambda: deck(lake, item_id="ffffffffff"), "there is nothing to review"),
            (
                lambda: choose_tau(lake, find_grader(lake, "lexical"), 9),
                "--tau 9: marts are computed at 1, 2, 3, 4, 5",
            ),
        ):
            with pytest.raises(BadInput) as error:
                refused()
            assert told in str(error.value)
        assert choose_tau(lake, find_grader(lake, "lexical"), None) == 4
    nameless = review(folder, "q", assessor="a b")
    assert "--assessor: 'a b' cannot be used as a name" in str(nameless.exception)


# --- what the numbers are -------------------------------------------------------------------------


def test_shares_and_kappas_are_those_of_scikit_learn(folder):
    draw = random.Random(11)
    with Lake.writer(Project.find(folder)) as lake:
        grades = [card.grade for card in deck(lake, sample=24)]
    answers, people = [], []
    for grade in grades:
        own = draw.choice([grade, grade, *range(6), None])
        people.append(own)
        if own == grade:
            answers.append("a")
        else:
            answers += ["d", "" if own is None else str(own)]
    result = review(folder, ",".join(answers), "--json", "--sample", "24")
    summary = json.loads(done(result))
    assert "1 of 24" in result.stderr, "the output is for the object alone"
    assert summary["agreed_now"] == answers.count("a")
    pairs = [(grade, own) for grade, own in zip(grades, people, strict=True) if own is not None]
    assert 16 < len(pairs) < 24
    rows = mart(folder)
    assert summary["agreement"] == rows[3]
    for tau, row in enumerate(rows, start=1):
        said = [grade >= tau for grade, _ in pairs]
        meant = [own >= tau for _, own in pairs]
        assert (row["tau"], row["n_reviewed"], row["n_graded"]) == (tau, 24, len(pairs))
        assert row["share_agreed"] == pytest.approx(answers.count("a") / 24)
        assert row["kappa"] == pytest.approx(cohen_kappa_score(said, meant), abs=1e-9)
        assert row["precision"] == pytest.approx(precision_score(meant, said), abs=1e-9)
        assert row["recall"] == pytest.approx(recall_score(meant, said), abs=1e-9)


def test_rubric_owners_find_the_verdicts_beside_the_grades(folder):
    answered(folder, 0, note="no word of it")
    done(review(folder, "a,q", assessor="bob"))
    (row,) = live(folder).rows(
        "select distinct n_reviews, n_agreed, reviewed_grade, review_notes "
        "from lake.marts.verify_grades where n_reviews > 0"
    )
    assert row == (2, 1, 0, "ann: no word of it"), "of two grades the lower one"
    asked = gradelake(folder, "sql", "--live", "--format", "json", "@review_agreement").stdout
    assert [(row["assessor"], row["n_agreed"]) for row in json.loads(asked)] == [
        ("ann", 0),
        ("bob", 1),
    ]
    wrong = gradelake(folder, "sql", "--live", "@review_agreement", "--assessor", "an", code=2)
    assert "Did you mean 'ann'?" in wrong.stderr


# --- what happens to the grade --------------------------------------------------------------------


def test_a_grade_that_was_replaced_is_shown_again(folder):
    card = shown(answered(folder, "agree", "agree")[0])
    with Lake.writer(Project.find(folder)) as lake, lake.transaction("test") as transaction:
        transaction.run(
            "update {lake}.raw.grades as grades set grade = 0 from lake.raw.grade_reviews as said "
            "where grades.grader_id = said.grader_id and grades.query_id = ? "
            "and grades.passage_id = ? and grades.item_id = said.item_id",
            *card[:2],
        )
    assert {row["n_reviewed"] for row in mart(folder)} == {1}, "what was shown is not so any more"
    with Lake.writer(Project.find(folder)) as lake:
        assert (*card[:3], 0) in map(shown, deck(lake, query_id=card[0]))
    assert len(live(folder).rows(REVIEWS)) == 2, "the review itself stays"


def test_a_rubric_edit_loses_no_review(folder):
    item = answered(folder, "agree", "agree")[0].item_id
    before = mart(folder)
    write_edits(folder, edit(1, "drop", item))
    refused = review(folder, "q", "--item", item)
    assert "nothing to review" in str(refused.exception), "a dropped item needs none any more"
    assert mart(folder) == before
    assert len(live(folder).rows(REVIEWS)) == 2


# --- the terminal ---------------------------------------------------------------------------------


def test_texts_of_others_do_not_steer_the_terminal(folder):
    evil = "\x1b]0;owned\x07\x1b[2J red \x9b31m \u202eback\u2066 \x08\x7f and\rover \x00 end"
    with Lake.writer(Project.find(folder)) as lake, lake.transaction("test") as transaction:
        transaction.run("update {lake}.raw.passages set text = ?", evil)
        transaction.run("update {lake}.raw.queries set text = ?", evil)
        transaction.run("update {lake}.raw.grades set answer = ?, query_sha256 = null", evil)
    shown = done(review(folder, f"n,{evil.replace(chr(13), '').replace(chr(0), '')},a,u,q"))
    assert r"\x1b]0;owned\x07\x1b[2J red \x9b31m \u202eback\u2066 \x08\x7f and" in shown
    assert shown.count("owned") > 3
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


@pytest.mark.fast
def test_lines_fit_80_columns_whatever_is_in_them():
    text = "word " * 50 + "\n\n" + "x" * 300 + "\n" + "漢字" * 100 + "\na\tb\n" + "é" * 90
    lines = _lines(text, 70)
    assert max(map(cell_len, lines)) == 70
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert "" in lines, "paragraphs stay apart"


def test_single_keys_on_a_terminal(folder):
    typed = TypedReview(folder)
    first = typed.wait_for(ASKED)
    assert "1 of 2,819" in first
    assert "2 of 2,819" in typed.press("a")
    assert typed.press("\x1b[A", "") == ""
    assert typed.press("z", "") == "", "keys that mean nothing do nothing"
    assert "b]ack: " in typed.press("d", "b]ack: ")
    assert "3 of 2,819" in typed.press("\r")
    typed.press("n", "note: ")
    assert "Note      fine by me" in typed.write("fine by me\r")
    assert "4 of 2,819" in typed.press("A")
    assert "3 of 2,819" in typed.press("u")
    assert "reviewed 2 now: 1 agreed with, 1 not; 2,817 left" in typed.quit()
    assert [row[2] for row in live(folder).rows(REVIEWS)] == ["agree", "disagree"]


def test_killed_in_the_middle_it_keeps_what_was_said(folder):
    typed = TypedReview(folder)
    shown = typed.wait_for(ASKED) + typed.press("aaaaaa") + typed.press("s") + typed.press("a")
    assert "4 of" in shown, "keys that were typed ahead are no verdicts"
    typed.press("d", "b]ack: ")
    os.kill(typed.pid, signal.SIGKILL)
    os.waitpid(typed.pid, 0)
    assert [row[2] for row in live(folder).rows(REVIEWS)] == ["agree", "agree"]
    after = done(review(folder, "q"))
    assert cards(after)[0] == cards(shown.replace("\r", ""))[1]
    assert CARD.findall(after)[0][1] == "2,817"
    assert "the lake is sound" in gradelake(folder, "lake", "verify").stdout


@pytest.mark.fast
def test_a_key_is_a_grade_whatever_its_gold_answers_and_an_assessor():
    grade = [column for column in KEYS["grades"] if column != "gold_sha256"]
    assert KEYS["grade_reviews"] == [*grade, "assessor"] == list(ReviewKey._fields)
