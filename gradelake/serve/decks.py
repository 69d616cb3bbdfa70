"""The cards that somebody reviews: kept in memory while they do, each answer in the journal."""

import threading
from collections import OrderedDict
from hashlib import sha256
from typing import Any

from gradelake.grading.review.cards import Card, Reviewable, Reviewed, passage_texts
from gradelake.grading.review.queues import deal_conflicts, deal_queue, said_by_others
from gradelake.serve.journal import Entry, Journal
from gradelake.sql.common.clock import utc_now
from gradelake.sql.lake.lake import Lake

_AT_ONCE = 2  # that are dealt: each takes a core, and more at once take longer together
_KEPT = 500  # decks; somebody else's is dealt again when they go on


class Deck:
    """One assessor's cards of a queue, by id, and what they said of each."""

    def __init__(
        self,
        journal: Journal,
        collection: str,
        queue: str,
        grader: Reviewable,
        assessor: str,
        cards: list[Card],
        settles: bool,
        others: dict[str, list[dict[str, Any]]],
        waiting: list[Entry],
    ):
        """`waiting`: what the journal has of the assessor, beside what the cards say."""
        self.blind = not settles
        self.scale = grader.scale
        self._journal = journal
        self._collection, self._queue, self._grader = collection, queue, grader
        self._assessor, self._settles, self._others = assessor, settles, others
        self.cards = {card_id(card): card for card in cards}
        self._said = {id_: card.before for id_, card in self.cards.items()}
        self._lock = threading.Lock()
        for entry in waiting:
            if entry["grader_id"] == grader.grader_id:
                self._said[_entry_id(entry)] = _reviewed(entry)

    def as_object(self, lake: Lake) -> dict[str, Any]:
        """For grading/review/form/card.js; the grader's grade only where it may be seen."""
        shown = []
        texts = passage_texts(lake, self._collection, list(self.cards.values()))
        for id_, card in self.cards.items():
            passage, sha256 = texts.get(card.passage_id, (None, None))
            if passage is not None and card.passage_sha256 in (None, sha256):
                said = self._said.get(id_)
                about = {
                    "id": id_,
                    "query_id": card.query_id,
                    "passage_id": card.passage_id,
                    "item_id": card.item_id,
                    "query": card.query,
                    "item": card.item,
                    "kind": self._grader.kind,
                    "passage": passage,
                    "said": said and _as_object(said, card),
                }
                shown.append(about | (self._seen(id_) if said or not self.blind else {}))
        return {
            "collection": self._collection,
            "grader": self._grader.name,
            "assessor": self._assessor,
            "title": f"{'Settle' if self._settles else 'Review'}: {self._queue}",
            **self._grader.for_cards,
            "blind": self.blind,
            "cards": shown,
        }

    def answer(
        self, id_: str, grade: int | None, verdict: str | None, note: str | None, seconds: Any
    ) -> dict[str, Any] | None:
        """Keep an answer; returns what may be seen then, None for a card that is not here."""
        card = self.cards.get(id_)
        if card is None:
            return None
        if self.blind:
            verdict = "agree" if grade == card.grade else "disagree"
        own = grade if verdict == "disagree" and grade != card.grade else None
        with self._lock:
            before = self._said.get(id_)
            first = before.blind_grade if before else grade if self.blind else None
            # what it took to answer, not to look at the grader's grade
            seconds = before.seconds if before and self.blind else seconds
            noted = " ".join((note or "").split()) or None
            said = Reviewed(str(verdict), own, noted, first, seconds, self._settles or None)
            self._keep(card, vars(said))
            self._said[id_] = said
        return self._seen(id_)

    def take_back(self, id_: str) -> bool:
        """Take an answer back; False where the grader's grade was seen after it."""
        with self._lock:
            if self.blind or id_ not in self.cards:
                return False
            self._keep(self.cards[id_], {"verdict": None})
            self._said[id_] = None
        return True

    def _keep(self, card: Card, said: dict[str, Any]) -> None:
        self._journal.add(
            {
                "collection": self._collection,
                "grader_id": self._grader.grader_id,
                "query_id": card.query_id,
                "passage_id": card.passage_id,
                "item_id": card.item_id,
                "passage_sha256": card.passage_sha256,
                "query_sha256": card.query_sha256,
                "assessor": self._assessor,
                "grade": card.grade,
                **said,
                "reviewed_at": utc_now(),
            }
        )

    def _seen(self, id_: str) -> dict[str, Any]:
        card = self.cards[id_]
        return {"grade": card.grade, "answer": card.answer, "others": self._others.get(id_, [])}


class Decks:
    """The decks in use."""

    def __init__(self, journal: Journal):
        self._journal = journal
        self._decks: OrderedDict[tuple, Deck] = OrderedDict()
        self._lock = threading.Lock()
        self._at_once = threading.Semaphore(_AT_ONCE)

    def at_hand(self, *key: str | bool) -> Deck | None:
        """A deck that was dealt, without a look at the lake. `key`: as `deal` is given it."""
        with self._lock:
            if key in self._decks:
                self._decks.move_to_end(key)
            return self._decks.get(key)

    def deal(self, lake: Lake, collection: str, queue: str, assessor: str, settles: bool) -> Deck:
        """Somebody's deck of a queue, dealt anew.

        Raises `BadInput` for a queue that is not there, or in which they have no cards.
        """
        key = (collection, queue, assessor, settles)
        with self._at_once:
            deck = self._dealt(lake, *key)
        with self._lock:
            self._decks[key] = deck
            while len(self._decks) > _KEPT:
                self._decks.popitem(last=False)
        return deck

    def _dealt(self, lake: Lake, collection: str, queue: str, assessor: str, settles: bool) -> Deck:
        others: dict[str, list[dict[str, Any]]] = {}
        key = {"collection": collection, "assessor": assessor}
        # before and after: what is committed while the lake is read may be in neither
        waiting = self._journal.waiting(**key)
        if settles:
            grader, dealt = deal_conflicts(lake, collection, queue, assessor, again=True)
            said = said_by_others(lake, collection, grader, dealt.cards)
            others = dict(zip(map(card_id, dealt.cards), said, strict=True))
        else:
            grader, dealt = deal_queue(lake, collection, queue, assessor, again=True)
        waiting += self._journal.waiting(**key)
        about = (collection, queue, grader, assessor, dealt.cards)
        return Deck(self._journal, *about, settles, others, waiting)


def card_id(card: Card) -> str:
    """A card's name in the browser."""
    return _id(card.query_id, card.passage_id, card.item_id)


def _entry_id(entry: Entry) -> str:
    return _id(entry["query_id"], entry["passage_id"], entry["item_id"])


def _id(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:20]


def _reviewed(entry: Entry) -> Reviewed | None:
    columns = ("verdict", "own_grade", "note", "blind_grade", "seconds", "settles")
    return Reviewed(*(entry[column] for column in columns)) if entry["verdict"] else None


def _as_object(said: Reviewed, card: Card) -> dict[str, Any]:
    grade = card.grade if said.verdict == "agree" else said.own_grade
    about = vars(said)
    return {key: about[key] for key in ("verdict", "note", "seconds", "blind_grade")} | {
        "grade": grade
    }
