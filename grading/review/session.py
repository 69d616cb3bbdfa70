"""One sitting: card after card, until none is left or the person leaves."""

import time
from collections import defaultdict

from gradelake.grading.review.cards import Card, Deck, Reviewed, Wish, passage_text
from gradelake.grading.review.keys import ENTER, Lines, Terminal
from gradelake.grading.review.queues import said_by_others
from gradelake.grading.review.screen import Screen
from gradelake.grading.review.verdicts import Verdicts

ASK = "[a]gree [d]isagree [s]kip [n]ote [u]ndo [q]uit: "
ASK_BLIND = "your {}, {}; [s]kip [n]ote [u]ndo [q]uit: "
ASK_AGAIN = "Enter to stay with your {}, or another {}, {}; [n]ote [u]ndo [q]uit: "
ASK_OWN = "your {}, {} but not {}; Enter for none, [b]ack: "
_BACK = "b"


class Session:
    """Shows a deck and commits each verdict at once.

    `said`: what was said of which card (None: skipped), by its number in the deck.
    """

    def __init__(self, deck: Deck, verdicts: Verdicts, keys: Terminal | Lines, screen: Screen):
        self.deck = deck
        self.verdicts = verdicts
        self.keys = keys
        self.screen = screen
        self.said: dict[int, Reviewed | None] = {}
        self._path: list[int] = []  # cards that were answered or skipped, the last one last
        self._notes: dict[int, str] = {}
        self._blind: dict[int, int] = {}  # what was said before the grade was shown
        self._spent: dict[int, float] = defaultdict(float)  # seconds, before what was answered
        self._shown = 0.0  # when the card on the screen was

    def count(self, verdict: str | None) -> int:
        """How often this was said; None: skipped."""
        return sum((each and each.verdict) == verdict for each in self.said.values())

    def run(self) -> None:
        """Until the last card, `q`, or the end of the input."""
        at = 0
        try:
            while at < len(self.deck.cards):
                at = self._turn(at)
                if at < 0:
                    return
        except EOFError:
            self.screen.write("\n")

    def _turn(self, at: int) -> int:
        """Show a card until it is done with; returns the next one's number, below 0 to leave."""
        card = self.deck.cards[at]
        wish = self.verdicts.wish
        passage = passage_text(self.verdicts.lake, wish.collection, card)
        if passage is None:
            self.screen.write(f"passage {card.passage_id} has gone or changed: left out\n")
            return at + 1
        note = self._notes.get(at, card.before.note if card.before else None)
        which = f"{at + 1:,} of {self.deck.n_cards:,}   {card.query_id}   {card.passage_id}"
        hidden = wish.blind and at not in self._blind
        self.screen.show(card, passage, which, note, hidden)
        if wish.settles:
            lake = self.verdicts.lake
            self.screen.others(said_by_others(lake, wish.collection, wish.grader, [card])[0])
        self._shown = time.monotonic()
        if wish.blind and not hidden:
            return self._revise(at, note)
        while True:
            match self._first_word(wish):
                case "a":
                    return self._answer(at, "agree", None, note)
                case "d":
                    ask = ASK_OWN.format(wish.grader.what, self._scale(), card.grade)
                    own = self._grade(ask, _BACK, without=card.grade, enter=True)
                    if own == _BACK:
                        continue
                    return self._answer(at, "disagree", None if own == ENTER else int(own), note)
                case "s":
                    if note and not card.before:
                        self.screen.write("a note is kept with a verdict only: it is gone\n")
                    self._notes.pop(at, None)
                    self.said[at] = None
                    self._path.append(at)
                    return at + 1
                case "n":
                    return self._note(at)
                case "u" if self._path:
                    return self._undo()
                case "u":
                    self.screen.write("this is the first card\n")
                case "q":
                    return -1
                case grade:
                    self._blind[at] = int(grade)
                    self._keep(at, int(grade), note)  # nobody sees the grade before
                    self.screen.reveal(card)
                    return at + 1 if int(grade) == card.grade else self._revise(at, note)

    def _first_word(self, wish: Wish) -> str:
        """A verdict or a wish; in a blind review a grade in place of a verdict."""
        if wish.blind:
            return self._grade(ASK_BLIND.format(wish.grader.what, self._scale()), "snuq")
        return self.keys.key(ASK, "adsnuq")

    def _revise(self, at: int, note: str | None) -> int:
        """The grader's grade is on the screen: who graded blind may give another now."""
        own = self._blind[at]
        ask = ASK_AGAIN.format(own, self.verdicts.wish.grader.what, self._scale())
        match self._grade(ask, "nuq", enter=True):
            case "n":
                return self._note(at)
            case "u":
                if at in self._path:  # it was answered just now, or is back already
                    self._path.remove(at)
                return self._undo() if self._path else at
            case "q":
                return -1
            case said:
                self._keep(at, own if said == ENTER else int(said), note)
                return at + 1

    def _keep(self, at: int, grade: int, note: str | None) -> None:
        agrees = grade == self.deck.cards[at].grade
        self._answer(at, "agree" if agrees else "disagree", None if agrees else grade, note)

    def _note(self, at: int) -> int:
        self._notes[at] = self.keys.line("note: ").strip()
        self._spent[at] += time.monotonic() - self._shown
        return at

    def _answer(self, at: int, verdict: str, own_grade: int | None, note: str | None) -> int:
        card = self.deck.cards[at]
        seconds: float | None = round(self._spent[at] + time.monotonic() - self._shown, 1)
        before = card.before.blind_grade if card.before else None
        blind_grade = self._blind.get(at, before)
        if at in self._blind and (said := self.said.get(at)):
            seconds = said.seconds  # what it took to answer, not to look at the grader's grade
        settles = self.verdicts.wish.settles
        reviewed = Reviewed(verdict, own_grade, note or None, blind_grade, seconds, settles)
        self.verdicts.put(card, reviewed)
        self.said[at] = reviewed
        if self._path[-1:] != [at]:
            self._path.append(at)
        return at + 1

    def _scale(self) -> str:
        grader = self.verdicts.wish.grader
        return f"{grader.scale_min} to {grader.scale_max}"

    def _grade(
        self, ask: str, letters: str, without: int | None = None, enter: bool = False
    ) -> str:
        """A grade of the scale as text, but one; one of the letters; or `ENTER` where it may be."""
        grader = self.verdicts.wish.grader
        grades = [str(grade) for grade in grader.scale if grade != without]
        if grader.scale_min >= 0 and grader.scale_max <= 9:
            return self.keys.key(ask, "".join(grades) + letters, enter)
        while (said := self.keys.line(ask).strip()) not in {*grades, *letters, *([ENTER] * enter)}:
            self.screen.write(f"{said!r} is none of these\n")
        return said

    def _undo(self) -> int:
        """Back to the card before, as it was before it was answered."""
        at = self._path.pop()
        if self.verdicts.wish.blind and self.said[at]:
            return at  # the grade has been seen: what was said blind stays, the rest may change
        if reviewed := self.said.pop(at):
            card: Card = self.deck.cards[at]
            self.verdicts.put(card, card.before)
            if reviewed.note:
                self._notes[at] = reviewed.note
        return at
