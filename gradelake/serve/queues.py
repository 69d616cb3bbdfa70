"""Queues in the browser: how far people are with theirs; editors add and remove them."""

from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gradelake.grading.review.queue_sources import SOURCES
from gradelake.grading.review.queues import add_queue, deal_conflicts, drop_queue, queues_of
from gradelake.serve.pages import at, page, route, texts
from gradelake.serve.people import Person
from gradelake.sql.common.errors import BadInput, Busy
from gradelake.sql.lake.opening import Lake

_MOST = {"size": 2_000, "overlap": 100, "seed": 1 << 31, "depth": 1 << 31, "tau": 100}
_LEAST = {"seed": 0}
_FILLED = {"size": "60", "overlap": "2", "seed": "1"}
_WHO = "assessor:"  # what the names of people's boxes begin with


def queues(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The queues of a collection: one's own, and with an editor's right all, with progress."""
    return _page(request, person, _FILLED)


def added(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Add what a form asks for, as `gradelake queue add` does."""
    collection = request.path_params["collection"]
    try:
        name, options = _options(texts(sent))
        arguments = ["queue", "add", collection, name]
        work = partial(add_queue, request.app.state.project, arguments)
        request.app.state.writer.in_turn("queue", lambda: work(collection, name, **options))
    except (BadInput, Busy) as error:
        status = 503 if isinstance(error, Busy) else 400
        return _page(request, person, sent, status, [error.message, error.hint])
    return RedirectResponse(f"{at(collection)}/review/", 303)


def removed(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Remove a queue, as `gradelake queue remove` does."""
    collection, name = request.path_params["collection"], request.path_params["queue"]
    arguments = ["queue", "remove", collection, name]
    work = partial(drop_queue, request.app.state.project, arguments)
    request.app.state.writer.in_turn("queue", lambda: work(collection, name))
    return RedirectResponse(f"{at(collection)}/review/", 303)


def _options(sent: dict[str, str]) -> tuple[str, dict[str, Any]]:
    """A form's queue, by name. Raises `BadInput` for a number that is none."""
    kind, _, whose = sent.get("of", "").partition("/")
    numbers = {name: _number(name, sent.get(name, "")) for name in _MOST}
    for name in _FILLED:
        if numbers[name] is None:
            raise BadInput(f"{name} is empty", "Give a whole number.")
    names = [each.strip() for each in sent.get("label_names", "").split(",")]
    return sent.get("name", "").strip(), numbers | {
        "grader": whose if kind == "grader" else None,
        "label_set": whose if kind == "labels" else None,
        "source": sent.get("source") or None,
        "label_names": names if any(names) else None,
        "assessors": [name.removeprefix(_WHO) for name in sent if name.startswith(_WHO)],
    }


def _number(name: str, text: str) -> int | None:
    text = text.strip()
    least, most = _LEAST.get(name, 1), _MOST[name]
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or not least <= int(text[:12]) <= most:
        raise BadInput(f"{name} {text[:30]!r} is not a whole number from {least:,} to {most:,}")
    return int(text)


def _page(
    request: Request,
    person: Person,
    form: dict[str, str],
    status: int = 200,
    messages: list[str | None] | None = None,
) -> Response:
    collection, people = request.path_params["collection"], request.app.state.sessions.people
    with request.app.state.readers.live() as lake:
        lake.require_collection(collection)
        found = queues_of(lake, collection)
        for queue in found:
            if queue["n_conflicts"]:  # those that are theirs to settle
                conflicts = deal_conflicts(lake, collection, queue["queue"], person.name)
                queue["n_conflicts"] = conflicts[1].n_left
        choices = _choices(lake, collection) if person.may("editor") else {}
    for queue in found:
        own = (one for one in queue["assessors"] if one["assessor"] == person.name)
        queue["own"] = next(own, None)
        queue["path"] = f"{at(collection)}/review/{quote(queue['queue'], safe='')}"
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
        sources=SOURCES,
        people=[one.name for one in people.everybody() if one.may("assessor")],
        form=form,
        messages=[one for one in messages or [] if one],
    )


def _choices(lake: Lake, collection: str) -> dict[str, list[tuple[str, str]]]:
    """What a queue can be of: (name, what the form sends), in groups."""
    graders = lake.column(
        "select grader from lake.intermediate.int_own_graders where kind is not null order by all"
    )
    label_sets = lake.column(
        "select label_set from lake.intermediate.int_label_sets where collection = ? order by all",
        collection,
    )
    return {
        "Grades, to be reviewed, of": [(name, f"grader/{name}") for name in graders],
        "Passages, to be judged, of label set": [(name, f"labels/{name}") for name in label_sets],
    }


_AT = "/c/{collection}/review"
routes = [
    route(f"{_AT}/", "assessor", queues),
    route(f"{_AT}/", "editor", added, "POST"),
    route(f"{_AT}/{{queue}}/remove", "editor", removed, "POST"),
]
