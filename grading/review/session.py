"""One sitting: card after card, until none is left or the person leaves."""

from gradelake.grading.review.cards import Card, Deck, Reviewable, Reviewed, passage_text
from gradelake.grading.review.keys import ENTER, Lines, Terminal
from gradelake.grading.review.screen import Screen
from gradelake.grading.review.verdicts import Verdicts

ASK = "[a]gree [d]isagree [s]kip [n]ote [u]ndo [q]uit: "
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
        self.screen.show(card, passage, which, note)
        while True:
            match self.keys.key(ASK, "adsnuq"):
                case "a":
                    return self._answer(at, Reviewed("agree", None, note or None))
                case "d":
                    own = self._own_grade(card, wish.grader)
                    if own == _BACK:
                        continue
                    grade = None if own == ENTER else int(own)
                    return self._answer(at, Reviewed("disagree", grade, note or None))
                case "s":
                    if note and not card.before:
                        self.screen.write("a note is kept with a verdict only: it is gone\n")
                    self._notes.pop(at, None)
                    self.said[at] = None
                    self._path.append(at)
                    return at + 1
                case "n":
                    self._notes[at] = self.keys.line("note: ").strip()
                    return at
                case "u" if self._path:
                    return self._undo()
                case "u":
                    self.screen.write("this is the first card\n")
                case "q":
                    return -1

    def _answer(self, at: int, reviewed: Reviewed) -> int:
        self.verdicts.put(self.deck.cards[at], reviewed)
        self.said[at] = reviewed
        self._path.append(at)
        return at + 1

    def _own_grade(self, card: Card, grader: Reviewable) -> str:
        """A grade as text, `ENTER` for none, or `_BACK`. The grader's own is not among them."""
        grades = [str(grade) for grade in grader.scale if grade != card.grade]
        low, high = grader.scale_min, grader.scale_max
        ask = f"your grade, {low} to {high} but not {card.grade}; Enter for none, [b]ack: "
        if low >= 0 and high <= 9:
            return self.keys.key(ask, "".join(grades) + _BACK, enter=True)
        while (said := self.keys.line(ask).strip()) not in {*grades, _BACK, ENTER}:
            self.screen.write(f"{said!r} is none of these\n")
        return said

    def _undo(self) -> int:
        """Back to the card before, as it was before it was answered."""
        at = self._path.pop()
        if reviewed := self.said.pop(at):
            card: Card = self.deck.cards[at]
            self.verdicts.put(card, card.before)
            if reviewed.note:
                self._notes[at] = reviewed.note
        return at
