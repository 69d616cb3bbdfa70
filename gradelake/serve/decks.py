"""The cards that somebody reviews: kept in memory while they do, each answer in the journal."""

import threading
from collections import OrderedDict
from dataclasses import InitVar, dataclass
from hashlib import sha256
from typing import Any

from gradelake.grading.review.cards import Card, Reviewable, passage_texts
from gradelake.grading.review.queues import deal_conflicts, deal_queue, others_opinions
from gradelake.grading.review.revise import ReviewAnswer, ReviewKey, Undo, revise
from gradelake.serve.journal import Entry, Journal
from gradelake.sql.common.clock import utc_now
from gradelake.sql.lake.opening import Lake

_AT_ONCE = 2  # that are dealt: each takes a core, and more at once take longer together
_KEPT = 500  # decks; somebody else's is dealt again when they go on


@dataclass(eq=False)
class Deck:
    """One assessor's cards of a queue, by id, and their review of each.

    `waiting`: their answers in the journal, which cards do not show yet.
    """

    _journal: Journal
    _collection: str
    _queue: str
    _grader: Reviewable
    _assessor: str
    dealt: InitVar[list[Card]]
    _settles: bool
    _others: dict[str, list[dict[str, Any]]]
    waiting: InitVar[list[Entry]]

    def __post_init__(self, dealt: list[Card], waiting: list[Entry]) -> None:
        self.blind, self.scale = not self._settles, self._grader.scale
        self.cards = {card_id(card): card for card in dealt}
        self._reviews = {id_: card.before for id_, card in self.cards.items()}
        self._lock = threading.Lock()
        ids = {self._key(card): id_ for id_, card in self.cards.items()}
        for key, answer in waiting:
            if id_ := ids.get(key):
                self._reviews[id_] = revise(self._reviews[id_], answer, utc_now())

    def as_object(self, lake: Lake) -> dict[str, Any]:
        """The card for gradelake/serve/static/card.js; the grader's grade only where it may be
        seen."""
        shown = []
        texts = passage_texts(lake, self._collection, list(self.cards.values()))
        for id_, card in self.cards.items():
            passage, hashed = texts.get(card.passage_id, (None, None))
            if passage is not None and card.passage_sha256 in (None, hashed):
                about = {
                    "id": id_,
                    "query_id": card.query_id,
                    "passage_id": card.passage_id,
                    "item_id": card.item_id,
                    "query": card.query,
                    "item": card.item,
                    "description": card.description,
                    "narrative": card.narrative,
                    "passage": passage,
                    "turned": self._grader.turns(card, self._assessor),
                }
                shown.append(about | self._state(id_))
        return {
            "collection": self._collection,
            "grader": self._grader.name,
            "assessor": self._assessor,
            "title": f"{'Resolve' if self._settles else 'Review'}: {self._queue}",
            **self._grader.for_cards,
            "blind": self.blind,
            "cards": shown,
        }

    def answer(
        self, id_: str, opinion: int | None, note: str | None, seconds: float | None
    ) -> dict[str, Any]:
        """Keep an answer; returns the card's state then, and whether it `stays` to be looked at:
        the grader's grade is shown for the first time. Raises `KeyError` for an unknown card."""
        card = self.cards[id_]
        is_blind = self.blind and self._reviews[id_] is None and card.grade is not None
        self._keep(id_, card.answered(opinion, note, seconds, is_blind, self._settles))
        return self._state(id_) | {"stays": is_blind}

    def undo(self, id_: str) -> dict[str, Any]:
        """Take an answer back where that is possible; returns the card's state then. Raises
        `KeyError` for an unknown card."""
        self._keep(id_, self.cards[id_].undone(self.blind))
        return self._state(id_)

    def _keep(self, id_: str, answer: ReviewAnswer | Undo) -> None:
        """Journal what changes the standing review."""
        with self._lock:
            standing = self._reviews[id_]
            made = revise(standing, answer, utc_now())
            if made is not standing:
                self._journal.add(self._key(self.cards[id_]), answer)
                self._reviews[id_] = made

    def _key(self, card: Card) -> ReviewKey:
        return card.key(self._collection, self._grader.grader_id, self._assessor)

    def _state(self, id_: str) -> dict[str, Any]:
        """The assessor's answer to a card, and what they may see of the grader's."""
        card, review = self.cards[id_], self._reviews[id_]
        own = review and {
            "grade": review.opinion,
            "verdict": review.verdict,
            "note": review.note,
            "blind_grade": review.blind_grade,
        }
        if (self.blind and not review) or card.grade is None:
            return {"own": own}
        seen = {"grade": card.grade, "answer": card.answer, "others": self._others.get(id_, [])}
        return {"own": own, **seen}


class Decks:
    """The decks in use."""

    def __init__(self, journal: Journal):
        self._journal = journal
        self._decks: OrderedDict[tuple, Deck] = OrderedDict()
        self._lock = threading.Lock()
        self._at_once = threading.Semaphore(_AT_ONCE)

    def at_hand(self, *key: str | bool) -> Deck | None:
        """A deck that was dealt, without a look at the lake. `key`: the arguments of `deal`."""
        with self._lock:
            if key in self._decks:
                self._decks.move_to_end(key)
            return self._decks.get(key)

    def deal(self, lake: Lake, collection: str, queue: str, assessor: str, settles: bool) -> Deck:
        """Somebody's deck of a queue, dealt anew.

        Raises `BadInput` for a queue that is not there, or in which they have no cards.
        """
        others: dict[str, list[dict[str, Any]]] = {}
        whose = {"collection": collection, "assessor": assessor}
        with self._at_once:
            # before and after: what is committed while the lake is read may be in neither
            waiting = self._journal.waiting(**whose)
            if settles:
                grader, dealt = deal_conflicts(lake, collection, queue, assessor, again=True)
                opinions = others_opinions(lake, collection, grader, dealt.cards)
                others = dict(zip(map(card_id, dealt.cards), opinions, strict=True))
            else:
                grader, dealt = deal_queue(lake, collection, queue, assessor, again=True)
            waiting += self._journal.waiting(**whose)
            about = (collection, queue, grader, assessor, dealt.cards)
            deck = Deck(self._journal, *about, settles, others, waiting)
        with self._lock:
            self._decks[collection, queue, assessor, settles] = deck
            while len(self._decks) > _KEPT:
                self._decks.popitem(last=False)
        return deck


def card_id(card: Card) -> str:
    """A card's name in the browser."""
    parts = (card.query_id, card.passage_id, card.item_id)
    return sha256("\0".join(parts).encode()).hexdigest()[:20]
