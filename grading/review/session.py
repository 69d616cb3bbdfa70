"""One sitting: card after card, until none is left or the person leaves."""

import time
from collections import defaultdict
from typing import Any

from gradelake.grading.review.cards import Deck, passage_texts
from gradelake.grading.review.keys import ENTER, Lines, Terminal
from gradelake.grading.review.queues import others_opinions
from gradelake.grading.review.revise import Review
from gradelake.grading.review.screen import Screen
from gradelake.grading.review.verdicts import Verdicts

ASK = "[a]gree [d]isagree [s]kip [n]ote [u]ndo [q]uit: "
ASK_BLIND = "your {}, {}; [s]kip [n]ote [u]ndo [q]uit: "
ASK_AGAIN = "Enter to stay with your {}, or another {}, {}; [n]ote [u]ndo [q]uit: "
ASK_OWN = "your {}, {} but not {}; Enter for none, [b]ack: "
_BACK = "b"


class Session:
    """Shows a deck and commits each answer at once.

    `reviews`: what stands of each card that was answered (None: skipped), by its number.
    """

    def __init__(self, deck: Deck, verdicts: Verdicts, keys: Terminal | Lines, screen: Screen):
        self.deck = deck
        self.verdicts = verdicts
        self.keys = keys
        self.screen = screen
        self.reviews: dict[int, Review | None] = {}
        self._assignment = verdicts.assignment
        self._grader = verdicts.assignment.grader
        self._path: list[int] = []  # cards that were answered or skipped, the last one last
        self._notes: dict[int, str] = {}
        self._spent: dict[int, float] = defaultdict(float)  # seconds, before the answer
        self._shown = 0.0  # when the card on the screen was

    def count(self, verdict: str | None) -> int:
        """How many reviews have this verdict; None: skipped cards."""
        return sum((each and each.verdict) == verdict for each in self.reviews.values())

    def summary(self) -> dict[str, Any]:
        """This sitting's counts, and the assessor's rows of `review_agreement` by now: of what they
        say, and of what they said before they saw the grades."""
        about = self._assignment
        found = self.verdicts.lake.objects(
            "select * from lake.marts.review_agreement "
            "where collection = ? and grader = ? and assessor = ? and tau = ? order by reveal",
            about.collection,
            about.grader.name,
            about.assessor,
            about.tau,
        )
        n_first = sum(
            1 for at, review in self.reviews.items() if review and not self.deck.cards[at].before
        )
        return {
            "collection": about.collection,
            "grader": about.grader.name,
            "assessor": about.assessor,
            "tau": about.tau,
            "agreed_now": self.count("agree"),
            "disagreed_now": self.count("disagree"),
            "skipped_now": self.count(None),
            "not_reviewed": self.deck.n_left - n_first,
            "agreement": found[0] if found else None,
            "agreement_blind": found[1] if len(found) > 1 else None,
        }

    def run(self) -> None:
        """Show cards until the last one, `q`, or the end of the input."""
        at = 0
        try:
            while 0 <= at < len(self.deck.cards):
                at = self._turn(at)
        except EOFError:
            self.screen.write("\n")

    def _turn(self, at: int) -> int:
        """Show a card until it is done with; returns the next one's number, below 0 to leave."""
        card = self.deck.cards[at]
        lake, collection = self.verdicts.lake, self._assignment.collection
        passage = passage_texts(lake, collection, [card]).get(card.passage_id)
        if passage is None or card.passage_sha256 not in (None, passage[1]):
            self.screen.write(f"passage {card.passage_id} has gone or changed: left out\n")
            return at + 1
        note = self._note_of(at)
        which = f"{at + 1:,} of {self.deck.n_cards:,}   {card.query_id}   {card.passage_id}"
        is_blind = self._assignment.blind and not self.reviews.get(at)
        self.screen.show(card, passage[0], which, note, is_blind)
        if self._assignment.settles:
            self.screen.others(card, others_opinions(lake, collection, self._grader, [card])[0])
        self._shown = time.monotonic()
        if self._assignment.blind and not is_blind:
            return self._look_again(at)
        while True:
            if self._assignment.blind:
                ask = ASK_BLIND.format(self._grader.what, self._scale())
                word = self._grade(ask, "snuq")  # a grade in place of a verdict
            else:
                word = self.keys.key(ASK, "adsnuq")
            match word:
                case "a":
                    return self._answer(at, card.grade)
                case "d":
                    graded = self.screen.seen(card, card.grade)
                    ask = ASK_OWN.format(self._grader.what, self._scale(), graded)
                    own = self._grade(ask, _BACK, without=graded, enter=True)
                    if own == _BACK:
                        continue
                    return self._answer(at, None if own == ENTER else self._kept(at, own))
                case "s":
                    if note and not card.before:
                        self.screen.write("a note is kept with a verdict only: it is gone\n")
                    self._notes.pop(at, None)
                    self.reviews[at] = None
                    self._path.append(at)
                    return at + 1
                case "n":
                    return self._ask_note(at)
                case "u" if self._path:
                    return self._undo()
                case "u":
                    self.screen.write("this is the first card\n")
                case "q":
                    return -1
                case typed:
                    grade = self._kept(at, typed)
                    self._answer(at, grade, is_blind=True)  # nobody sees the grader's before
                    if card.grade is None:
                        return at + 1
                    self.screen.reveal(card)
                    return at + 1 if grade == card.grade else self._look_again(at)

    def _look_again(self, at: int) -> int:
        """The grader's grade is on the screen: who graded blind may give another now."""
        review = self.reviews[at]
        assert review
        said = self.screen.seen(self.deck.cards[at], review.opinion)
        ask = ASK_AGAIN.format(said, self._grader.what, self._scale())
        match self._grade(ask, "nuq", enter=True):
            case "n":
                return self._ask_note(at)
            case "u":
                if at in self._path:  # it was answered just now, or is back already
                    self._path.remove(at)
                return self._undo() if self._path else at
            case "q":
                return -1
            case grade:
                kept = review.opinion if grade == ENTER else self._kept(at, grade)
                return self._answer(at, kept)

    def _kept(self, at: int, typed: str) -> int | None:
        """A grade that was typed, as the lake keeps it."""
        return self.screen.seen(self.deck.cards[at], int(typed))

    def _note_of(self, at: int) -> str | None:
        before = self.deck.cards[at].before
        return self._notes.get(at, before.note if before else None)

    def _ask_note(self, at: int) -> int:
        self._notes[at] = self.keys.line("note: ").strip()
        self._spent[at] += time.monotonic() - self._shown
        return at

    def _answer(self, at: int, opinion: int | None, is_blind: bool = False) -> int:
        """Commit an answer; returns the next card's number."""
        card = self.deck.cards[at]
        seconds = round(self._spent[at] + time.monotonic() - self._shown, 1)
        settles = bool(self._assignment.settles)
        answer = card.answered(opinion, self._note_of(at), seconds, is_blind, settles)
        self.reviews[at] = self.verdicts.put(card, answer)
        if self._path[-1:] != [at]:
            self._path.append(at)
        return at + 1

    def _scale(self) -> str:
        return f"{self._grader.scale_min} to {self._grader.scale_max}"

    def _grade(
        self, ask: str, letters: str, without: int | None = None, enter: bool = False
    ) -> str:
        """A grade of the scale as text, but one; one of the letters; or `ENTER` where it may be."""
        grader = self._grader
        grades = [str(grade) for grade in grader.scale if grade != without]
        if grader.scale_min >= 0 and grader.scale_max <= 9:
            return self.keys.key(ask, "".join(grades) + letters, enter)
        known = {*grades, *letters, *([ENTER] * enter)}
        while (typed := self.keys.line(ask).strip()) not in known:
            self.screen.write(f"{typed!r} is none of these\n")
        return typed

    def _undo(self) -> int:
        """Back to the card before, as it was before it was answered."""
        at = self._path.pop()
        review = self.reviews[at]
        card = self.deck.cards[at]
        if review is None:
            del self.reviews[at]
        else:
            undo = card.undone(self._assignment.blind, card.before)
            if self.verdicts.put(card, undo) != review:
                del self.reviews[at]
                if review.note:
                    self._notes[at] = review.note
        return at
