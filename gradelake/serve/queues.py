"""Queues in the browser: how far people are with theirs; editors add and remove them."""

from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gradelake.grading.review.queue_request import faults_of
from gradelake.grading.review.queue_sources import MOST, OF_GRADES, OF_PAIRS, POOL
from gradelake.grading.review.queues import (
    add_queue,
    agreement_of,
    deal_conflicts,
    drop_queue,
    queues_of,
)
from gradelake.serve.pages import at, page, route, texts
from gradelake.serve.people import Person
from gradelake.sql.common.errors import BadInput, Busy
from gradelake.sql.lake.opening import Lake

_MOST = {"size": MOST, "overlap": 100, "seed": 1 << 31, "depth": 1 << 31, "tau": 100}
_LEAST = {"seed": 0}
_FILLED = {"size": "60", "overlap": "2", "seed": "1"}
_WHO = "assessor:"  # what the names of people's boxes begin with
_FIELDS = {"queue": "name", "grader": "of", "label_set": "of"}  # option -> where it is in the form


def queues(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The queues of a collection: one's own, and with an editor's right all, with progress."""
    return _page(request, person, _FILLED)


def added(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Add what a form asks for, as `gradelake queue add` does."""
    collection = request.path_params["collection"]
    errors: dict[str, BadInput | Busy] = {}
    name, options = _options(texts(sent), errors)
    with request.app.state.readers.live() as lake:
        lake.require_collection(collection)
        asked = {key: value for key, value in options.items() if key != "seed"}
        for option, error in faults_of(lake, collection, name, **asked):
            errors.setdefault(_FIELDS.get(option, option), error)
        if name in [queue["queue"] for queue in queues_of(lake, collection)]:
            errors["name"] = BadInput(f"There is a queue {name} already", "Choose another name.")
    if errors:
        return _page(request, person, sent, 400, errors)
    work = partial(add_queue, request.app.state.project, ["queue", "add", collection, name])
    try:
        request.app.state.writer.in_turn("queue", lambda: work(collection, name, **options))
    except (BadInput, Busy) as error:
        status = 503 if isinstance(error, Busy) else 400
        return _page(request, person, sent, status, {"": error})
    return RedirectResponse(f"{at(collection)}/review/", 303)


def removed(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Remove a queue, as `gradelake queue remove` does."""
    collection, name = request.path_params["collection"], request.path_params["queue"]
    arguments = ["queue", "remove", collection, name]
    work = partial(drop_queue, request.app.state.project, arguments)
    request.app.state.writer.in_turn("queue", lambda: work(collection, name))
    return RedirectResponse(f"{at(collection)}/review/", 303)


def tasks(lake: Lake, collection: str, person: Person) -> list[dict[str, Any]]:
    """The queues of a collection as `queues_of` has them, with somebody's `own` progress, the
    number of conflicts that are theirs to settle, and the `path` of each."""
    found = queues_of(lake, collection)
    for queue in found:
        if queue["n_conflicts"]:
            conflicts = deal_conflicts(lake, collection, queue["queue"], person.name)
            queue["n_conflicts"] = conflicts[1].n_left
        own = (one for one in queue["assessors"] if one["assessor"] == person.name)
        queue["own"] = next(own, None)
        queue["path"] = f"{at(collection)}/review/{quote(queue['queue'], safe='')}"
    return found


def _options(
    sent: dict[str, str], errors: dict[str, BadInput | Busy]
) -> tuple[str, dict[str, Any]]:
    """A form's queue, by name; what is no number is None, and among the errors by its field."""
    kind, _, whose = sent.get("of", "").partition("/")
    numbers: dict[str, int | None] = {}
    of_pool = {"size": 1 << 31} if kind == POOL else {}
    for name, most in (_MOST | of_pool).items():
        try:
            numbers[name] = _number(sent.get(name, ""), _LEAST.get(name, 1), most)
            may_be_empty = name not in _FILLED or name in of_pool
            if numbers[name] is None and not may_be_empty:
                raise BadInput("Give a whole number")
        except BadInput as error:
            numbers[name], errors[name] = None, error
    queries = sent.get("queries", "").strip()
    names = [each.strip() for each in sent.get("label_names", "").split(",")]
    return sent.get("name", "").strip(), numbers | {
        "grader": whose if kind == "grader" else None,
        "label_set": whose if kind == "labels" else None,
        "source": POOL if kind == POOL else sent.get("source") or None,
        "queries": [each.strip() for each in queries.split(",")] if queries else None,
        "label_names": names if any(names) else None,
        "assessors": [name.removeprefix(_WHO) for name in sent if name.startswith(_WHO)],
    }


def _number(text: str, least: int, most: int) -> int | None:
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or not least <= int(text[:12]) <= most:
        raise BadInput(f"{text[:30]!r} is not a whole number from {least:,} to {most:,}")
    return int(text)


def _page(
    request: Request,
    person: Person,
    form: dict[str, str],
    status: int = 200,
    errors: dict[str, BadInput | Busy] | None = None,
) -> Response:
    collection, people = request.path_params["collection"], request.app.state.sessions.people
    with request.app.state.readers.live() as lake:
        lake.require_collection(collection)
        found, choices = tasks(lake, collection, person), {}
        if person.may("editor"):
            choices = _choices(lake, collection)
            for queue in found:
                queue["agreement"] = agreement_of(lake, queue)
    if not person.may("editor"):
        found = [queue for queue in found if queue["own"] or queue["n_conflicts"]]
    return page(
        request,
        "queues",
        status,
        title=f"Review: {collection}",
        collection=collection,
        queues=found,
        choices=choices,
        sources=list(dict.fromkeys((*OF_GRADES, *OF_PAIRS))),
        people=[one.name for one in people.everybody() if one.may("assessor")],
        form=form,
        errors=errors or {},
    )


def _choices(lake: Lake, collection: str) -> dict[str, list[tuple[str, str]]]:
    """What a queue can be of: (name, what the form sends), in groups."""
    graders = lake.column(
        "select grader from lake.marts.graders as graders "
        "semi join (select distinct grader_id from lake.raw.grades where collection = ?) as grades "
        "on graders.grader_id = grades.grader_id where kind is not null order by all",
        collection,
    )
    label_sets = lake.column(
        "select label_set from lake.marts.label_sets where collection = ? order by all", collection
    )
    return {
        "Review the grades of": [(name, f"grader/{name}") for name in graders],
        "Judge passages of": [(name, f"labels/{name}") for name in label_sets],
        "Judge before anything is graded": [("the pool", f"{POOL}/")],
    }


_AT = "/c/{collection}/review"
routes = [
    route(f"{_AT}/", "assessor", queues),
    route(f"{_AT}/", "editor", added, "POST"),
    route(f"{_AT}/{{queue}}/remove", "editor", removed, "POST"),
]
