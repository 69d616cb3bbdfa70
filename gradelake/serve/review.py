"""Reviewing in the browser: the cards of an assessor's queue."""

from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gradelake.grading.review.guidelines import guidelines_of
from gradelake.serve import queues
from gradelake.serve.decks import Deck, Decks
from gradelake.serve.pages import page, route
from gradelake.serve.people import Person
from gradelake.sql.common.counted import counted

_LONGEST = 2_000  # characters of a note
_LONG_AGO = 1e6  # seconds: a card that was left open


def cards_page(
    request: Request, person: Person, sent: dict[str, Any], settles: bool = False
) -> Response:
    """The page on which cards are shown, dealt anew; its script fetches them."""
    _deck(request, person, settles, fresh=True)
    guidelines = guidelines_of(request.app.state.project, request.path_params["collection"])
    return page(request, "review", title="Review", guidelines=guidelines, **request.path_params)


def cards(
    request: Request, person: Person, sent: dict[str, Any], settles: bool = False
) -> Response:
    """A queue's cards for whoever asks, with what they said of them so far."""
    deck = _deck(request, person, settles)
    with request.app.state.readers.live() as lake:
        return JSONResponse(deck.as_object(lake))


def answered(
    request: Request, person: Person, sent: dict[str, Any], settles: bool = False
) -> Response:
    """Keep an answer: it is on the disk when this returns. Returns the card's state then."""
    deck = _deck(request, person, settles)
    grade, seconds, note = sent.get("grade"), sent.get("seconds"), sent.get("note")
    if not ((grade is None and not deck.blind) or (type(grade) is int and grade in deck.scale)):
        raise HTTPException(400, f"A grade is a whole number, {deck.scale[0]} to {deck.scale[-1]}.")
    if not (seconds is None or (type(seconds) in (int, float) and 0 <= seconds <= _LONG_AGO)):
        raise HTTPException(400, "Seconds are a number from 0 on.")
    if not (note is None or (isinstance(note, str) and _can_be_kept(note))):
        raise HTTPException(400, f"A note is a text of at most {_LONGEST:,} characters.")
    return _of_card(sent, lambda id_: deck.answer(id_, grade, note, seconds))


def undone(
    request: Request, person: Person, sent: dict[str, Any], settles: bool = False
) -> Response:
    """Take an answer back, where that may be; returns the card's state then."""
    return _of_card(sent, _deck(request, person, settles).undo)


def next_tasks(
    request: Request, person: Person, sent: dict[str, Any], settles: bool = False
) -> Response:
    """What else waits for whoever has answered all cards, of this collection."""
    path, found = request.path_params, []
    with request.app.state.readers.live() as lake:
        for queue in queues.tasks(lake, path["collection"], person):
            is_this, own = queue["queue"] == path["queue"], queue["own"]
            left = own["n_assigned"] - own["n_answered"] if own else 0
            # the last answers may not be in the lake yet
            if left and (settles or not is_this):
                words = f"Next: {counted(left, 'cards')} in {queue['queue']}"
                found.append({"words": words, "href": f"{queue['path']}/"})
            if queue["n_conflicts"] and not (is_this and settles):
                words = f"Next: {queue['n_conflicts']} to resolve in {queue['queue']}"
                found.append({"words": words, "href": f"{queue['path']}/conflicts/"})
    return JSONResponse(found)


def _of_card(sent: dict[str, Any], work: Callable[[str], dict[str, Any]]) -> Response:
    try:
        return JSONResponse(work(str(sent.get("id"))))
    except KeyError:
        message = "This card is no longer in the queue: reload the page."
        raise HTTPException(404, message) from None


def _can_be_kept(note: str) -> bool:
    """Whether the lake can hold it: half a character, or a null, would stop everybody's reviews."""
    try:
        note.encode()
    except UnicodeEncodeError:
        return False
    return len(note) <= _LONGEST and "\0" not in note


def _deck(request: Request, person: Person, settles: bool, fresh: bool = False) -> Deck:
    decks: Decks = request.app.state.decks
    path = request.path_params
    key = (path["collection"], path["queue"], person.name, settles)
    if not fresh and (deck := decks.at_hand(*key)):
        return deck
    with request.app.state.readers.live() as lake:
        return decks.deal(lake, *key)


_AT = "/c/{collection}/review"
routes = [
    *queues.routes,
    *(
        route(f"{_AT}/{{queue}}{part}/{name}", "assessor", partial(answer, settles=bool(part)), how)
        for part in ("", "/conflicts")
        for name, answer, how in (
            ("", cards_page, "GET"),
            ("cards", cards, "GET"),
            ("next", next_tasks, "GET"),
            ("answers", answered, "POST"),
            ("undo", undone, "POST"),
        )
    ),
]
