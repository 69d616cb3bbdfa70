"""Terminal and server keep to one list of promises about what an answer changes."""

import io
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gradelake.grading.review.cards import Assignment, Card, Deck, Reviewable, deal, find_grader
from gradelake.grading.review.keys import Lines
from gradelake.grading.review.revise import Review
from gradelake.grading.review.screen import Screen
from gradelake.grading.review.session import Session
from gradelake.grading.review.verdicts import Verdicts
from gradelake.serve import decks
from gradelake.serve.journal import Journal
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

N_CARDS = 30


class Subject:
    """A person who answers one card, in one of the ways that there are."""

    def __init__(self, project: Project, grader: Reviewable, card: Card, who: str):
        self.project, self.grader, self.card, self.who = project, grader, card, who
        self.n_answers = 0

    def review(self) -> Review | None:
        """What the lake has of theirs."""
        columns = ", ".join(Review.__dataclass_fields__)
        with Lake.live(self.project) as lake:
            found = lake.objects(
                f"select {columns} from lake.raw.grade_reviews where assessor = ?", self.who
            )
        assert len(found) < 2
        return Review(**found[0]) if found else None

    def dealt(self) -> Card:
        """The card as it is dealt now: a review of another grade is none of it."""
        review = self.review()
        same = review and review.grade == self.card.grade
        return replace(self.card, before=review if same else None)

    def answers(self, opinion: int, note: str | None = None) -> None:
        """Their next answer: blind, unless they have seen the grader's grade."""
        raise NotImplementedError

    def undoes(self, opinion: int) -> None:
        """Answer, blind if it is the first, and take it back."""
        raise NotImplementedError


class Terminal(Subject):
    def _types(self, *keys: object) -> None:
        card = self.dealt()
        assignment = Assignment("demo", self.grader, self.who, 4, blind=card.before is None)
        typed = io.StringIO("".join(f"{key}\n" for key in keys))
        screen = Screen(self.grader, self.who, to_stderr=True)
        with Lake.writer(self.project) as lake:
            verdicts = Verdicts(lake, assignment)
            Session(Deck([card], 1, 1), verdicts, Lines(typed, screen.write), screen).run()

    def _keys(self, opinion: int) -> list[object]:
        if self.dealt().before is None:
            return [opinion]
        return ["a"] if opinion == self.card.grade else ["d", opinion]

    def answers(self, opinion, note=None):
        self._types(*([] if note is None else ["n", note]), *self._keys(opinion))

    def undoes(self, opinion):
        agrees = opinion == self.card.grade
        self._types(*self._keys(opinion), *([] if agrees else [""]), "u", "u", "q")


class Server(Subject):
    def _deck(self, journal: Journal) -> decks.Deck:
        about = ("demo", "queue", self.grader, self.who, [self.dealt()])
        return decks.Deck(journal, *about, False, {}, journal.waiting(assessor=self.who))

    def answers(self, opinion, note=None):
        self.n_answers += 1
        with closing(Journal(self.project)) as journal:
            deck = self._deck(journal)
            deck.answer(decks.card_id(self.card), opinion, note, float(self.n_answers))
            journal.commit()

    def undoes(self, opinion):
        with closing(Journal(self.project)) as journal:
            deck = self._deck(journal)
            deck.answer(decks.card_id(self.card), opinion, None, 1.0)
            deck.undo(decks.card_id(self.card))
            journal.commit()


def said(subject: Subject) -> tuple | None:
    """verdict, own_grade, blind_grade"""
    review = subject.review()
    return review and (review.verdict, review.own_grade, review.blind_grade)


def agrees_with_the_graders_grade(subject: Subject) -> None:
    subject.answers(subject.card.grade)
    assert said(subject) == ("agree", None, subject.card.grade)


def gives_another_grade(subject: Subject) -> None:
    own = (subject.card.grade + 1) % 6
    subject.answers(own)
    assert said(subject) == ("disagree", own, own)


def keeps_what_was_blind_first(subject: Subject) -> None:
    own, other = ((subject.card.grade + n) % 6 for n in (1, 2))
    subject.answers(own)
    first = subject.review()
    subject.answers(other)
    assert said(subject) == ("disagree", other, own)
    review = subject.review()
    assert first
    assert review
    assert review.seconds == first.seconds, "a look at it is no time that it took to answer"
    subject.answers(subject.card.grade)
    assert said(subject) == ("agree", None, own)


def answers_anew_where_the_graders_grade_is_another(subject: Subject) -> None:
    was = subject.card.grade
    now, own, other = ((was + n) % 6 for n in (1, 2, 3))
    subject.answers(own)
    with Lake.writer(subject.project) as lake, lake.transaction("test") as transaction:
        card = subject.card
        transaction.run(
            "update {lake}.raw.grades set grade = ? "
            "where grader_id = ? and query_id = ? and passage_id = ? and item_id = ?",
            *(now, subject.grader.grader_id, card.query_id, card.passage_id, card.item_id),
        )
    subject.card = replace(subject.card, grade=now)
    subject.answers(other)
    review = subject.review()
    assert review
    assert (review.grade, review.own_grade, review.blind_grade) == (now, other, other)


def says_the_same_again_and_nothing_changes(subject: Subject) -> None:
    subject.answers(4, "why")
    before = subject.review()
    subject.answers(4, "why")
    assert subject.review() == before


def notes_are_one_line_and_the_last_one_counts(subject: Subject) -> None:
    subject.answers(4, "  a\x1b \x07note ")
    review = subject.review()
    assert review
    assert review.note == "a note"
    subject.answers(4, "another")
    review = subject.review()
    assert review
    assert (review.note, review.blind_grade) == ("another", 4)


def what_was_blind_is_not_taken_back(subject: Subject) -> None:
    own = (subject.card.grade + 1) % 6
    subject.undoes(own)
    assert said(subject) == ("disagree", own, own)


PROMISES = [
    agrees_with_the_graders_grade,
    gives_another_grade,
    keeps_what_was_blind_first,
    answers_anew_where_the_graders_grade_is_another,
    says_the_same_again_and_nothing_changes,
    notes_are_one_line_and_the_last_one_counts,
    what_was_blind_is_not_taken_back,
]
SUBJECTS = [Terminal, Server]


@pytest.fixture(scope="module")
def place(graded_demo, tmp_path_factory) -> tuple[Project, Reviewable, list[Card]]:
    folder: Path = tmp_path_factory.mktemp("conformance") / "demo"
    shutil.copytree(graded_demo, folder)
    project = Project.find(folder)
    with Lake.writer(project) as lake:
        grader = find_grader(lake, "lexical")
        assignment = Assignment("demo", grader, "nobody", 4, sample=N_CARDS, blind=True)
        return project, grader, deal(lake, assignment).cards


@pytest.mark.slow
@pytest.mark.parametrize("kind", SUBJECTS)
def test_reviews_keep_their_promises(place, kind):
    project, grader, cards = place
    first = SUBJECTS.index(kind) * len(PROMISES)
    for n, promise in enumerate(PROMISES):
        promise(kind(project, grader, cards[first + n], f"{kind.__name__}-{n}".lower()))
