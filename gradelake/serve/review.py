"""Reviewing in the browser: an assessor's queues, and the cards of one."""

import math
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gradelake.grading.review.queues import queues_of
from gradelake.serve.decks import Deck, Decks
from gradelake.serve.pages import page, route
from gradelake.serve.people import Person

_LONGEST = 2_000  # characters of a note


def queues(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The queues of a collection: one's own, and with an editor's right all, with progress."""
    collection = request.path_params["collection"]
    with request.app.state.readers.live() as lake:
        lake.require_collection(collection)
        found = queues_of(lake, collection)
    if not person.may("editor"):
        found = [queue for queue in found if _progress(queue, person) or queue["n_conflicts"]]
    for queue in found:
        queue["own"] = _progress(queue, person)
        queue["path"] = f"/c/{collection}/review/{quote(queue['queue'], safe='')}"
    return page(
        request, "queues", title=f"Review: {collection}", collection=collection, queues=found
    )


def cards_page(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The page on which cards are shown; its script fetches them."""
    return page(request, "review", title="Review", **request.path_params)


def cards(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """A queue's cards for who asks, with what they said of them so far."""
    deck = _deck(request, person, fresh=True)
    with request.app.state.readers.live() as lake:
        return JSONResponse(deck.as_object(lake))


def answered(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Keep an answer: it is on the disk when this is answered. Tells what may be seen then."""
    deck = _deck(request, person)
    grade, verdict, seconds = sent.get("grade"), sent.get("verdict"), sent.get("seconds")
    note = sent.get("note")
    if not (grade is None or (type(grade) is int and grade in deck.scale)):
        raise HTTPException(400, f"A grade is a whole number, {deck.scale[0]} to {deck.scale[-1]}.")
    if not (seconds is None or (type(seconds) in (int, float) and math.isfinite(seconds))):
        raise HTTPException(400, "Seconds are a number.")
    if not (note is None or (isinstance(note, str) and len(note) <= _LONGEST)):
        raise HTTPException(400, f"A note has at most {_LONGEST:,} characters.")
    if deck.blind and grade is None:
        raise HTTPException(400, "A grade is asked for.")
    if not deck.blind and verdict not in ("agree", "disagree"):
        raise HTTPException(400, "Agree or disagree.")
    seen = deck.answer(str(sent.get("id")), grade, verdict, note, seconds)
    if seen is None:
        raise HTTPException(404, "That card is not in this queue (any more): load the page again.")
    return JSONResponse(seen)


def taken_back(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Take an answer back, unless the grader's grade was seen after it."""
    if not _deck(request, person).take_back(str(sent.get("id"))):
        raise HTTPException(409, "The grader's grade was shown: change your answer instead.")
    return JSONResponse({})


def _deck(request: Request, person: Person, fresh: bool = False) -> Deck:
    decks: Decks = request.app.state.decks
    path = request.path_params
    settles = path.get("part") == "conflicts"
    with request.app.state.readers.live() as lake:
        lake.require_collection(path["collection"])
        return decks.deal(lake, path["collection"], path["queue"], person.name, settles, fresh)


def _progress(queue: dict[str, Any], person: Person) -> dict[str, Any] | None:
    return next((one for one in queue["assessors"] if one["assessor"] == person.name), None)


_AT = "/c/{collection}/review"
routes = [
    route(f"{_AT}/", "assessor", queues),
    *(
        each
        for part in ("", "/{part}")  # the queue, or its conflicts
        for each in (
            route(f"{_AT}/{{queue}}{part}/cards", "assessor", cards),
            route(f"{_AT}/{{queue}}{part}/answers", "assessor", answered, "POST"),
            route(f"{_AT}/{{queue}}{part}/taken-back", "assessor", taken_back, "POST"),
        )
    ),
    route(f"{_AT}/{{queue}}/", "assessor", cards_page),
    route(f"{_AT}/{{queue}}/conflicts/", "assessor", cards_page),
]
