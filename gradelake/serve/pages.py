"""How a page is answered: who may see it, what its form sent, and what goes wrong, in words."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from gradelake.analyses.report.html import environment
from gradelake.serve.guard import check_token, person_of
from gradelake.serve.people import Person
from gradelake.sql.common import console
from gradelake.sql.common.errors import GradelakeError, NothingPublished, NotThere, WorkFailed
from gradelake.sql.common.plain_words import in_plain_words

_MINUTES = 30  # that the page which was asked for before signing in is remembered
_LONGEST = 2_000  # bytes of its address
_OWN_PATH = re.compile(r"/(?:[!-.0-\[\]-~][!-\[\]-~]*)?")  # of this server: no //, no backslash
_HAS = """
    select
        exists (from lake.raw.systems where collection = $1) as systems,
        exists (from lake.raw.judgments where collection = $1) as judgments,
        exists (from lake.raw.grades where collection = $1) as grades
"""
# what a page is made from: the request, who asks, and what a form or script sent
Answer = Callable[[Request, Person, dict[str, Any]], Response]


def route(path: str, role: str, answer: Answer, method: str = "GET") -> Route:
    """A page for people of a role. It runs in a thread: it may read a lake, and others go on."""

    async def endpoint(request: Request) -> Response:
        person = person_of(request, role)
        if "\0" in request.scope["path"]:  # no id has one, and DuckLake's own SQL ends at it
            raise HTTPException(404)
        sent = await _sent(request) if method == "POST" else {}
        return await run_in_threadpool(answer, request, person, sent)

    return Route(path, endpoint, methods=[method])


def at(collection: str) -> str:
    """Where a collection's pages are."""
    return f"/c/{quote(collection, safe='')}"


def to_folder(path: str) -> Route:
    """Lead from a page's address without its last slash to the page; not by scheme or host."""

    async def endpoint(request: Request) -> Response:
        last = request.scope["raw_path"].decode("ascii", "replace").rpartition("/")[2]
        return RedirectResponse(f"./{last}/", 307)

    return Route(path.removesuffix("/"), endpoint, methods=["GET"])


async def _sent(request: Request) -> dict[str, Any]:
    """A form's fields, or a script's JSON object. Raises 400, and 403 without the token."""
    if request.headers.get("content-type", "").partition(";")[0] == "application/json":
        check_token(request, request.headers.get("x-token"))
        try:
            sent = json.loads(await request.body())
        except (ValueError, RecursionError):
            raise HTTPException(400, "That is not JSON.") from None
        if not isinstance(sent, dict):
            raise HTTPException(400, "Send a JSON object.")
        return sent
    async with request.form(max_files=0, max_fields=2_000) as form:
        fields = {name: str(value) for name, value in form.items()}
    check_token(request, fields.pop("token", None))
    return fields


def texts(sent: dict[str, Any]) -> dict[str, str]:
    """What a form sent. Raises 400 for what no form sends: numbers, lists."""
    if not all(isinstance(value, str) for value in sent.values()):
        raise HTTPException(400, "Each field of this form is a text.")
    return sent


def page(request: Request, name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """templates/NAME.html.jinja as a page; `title` is among the values."""
    state, person = request.app.state, request.state.person
    collection = values.get("collection", request.path_params.get("collection"))
    usual = {
        "person": person,
        "collection": collection,
        "there": at(collection) if collection else "",
        "release": state.readers.newest() if person and "release" not in values else None,
        "token": state.sessions.token(request.state.token_of),
        "signs_out": state.trust_header is None,
    }
    template = environment("gradelake.serve", "templates").get_template(f"{name}.html.jinja")
    return HTMLResponse(template.render(usual | values), status)


def _failed(request: Request, status: int, message: str, hint: str | None = None) -> Response:
    """What went wrong, as a page, or as JSON for a script."""
    if "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"error": message, "hint": hint}, status)
    title = {401: "Sign in", 403: "Access denied", 404: "Not found"}.get(
        status, "That did not work"
    )
    try:
        about = {"collection": _known(request), "release": None}
        return page(request, "failed", status, title=title, message=message, hint=hint, **about)
    except (GradelakeError, OSError):  # the file of people cannot be used just now
        return PlainTextResponse(message, status)


def _known(request: Request) -> str | None:
    """The collection of the address, for one who may see that there is one."""
    collection = request.path_params.get("collection")
    if request.state.person is None or collection is None:
        return None
    with suppress(GradelakeError), request.app.state.readers.live() as lake:
        lake.require_collection(collection)
        return collection
    return None


async def on_http_error(request: Request, error: Exception) -> Response:
    """404 and the like."""
    assert isinstance(error, HTTPException)
    detail = error.detail
    if error.status_code == 404 and detail == "Not Found":
        detail = "There is nothing at this address."
    response = _failed(request, error.status_code, detail)
    response.headers.update(error.headers or {})
    # a page, not what a browser asks for beside it, such as its icon
    if error.status_code == 401 and "text/html" in request.headers.get("accept", ""):
        path = request.scope["raw_path"] + b"?" + request.scope["query_string"]
        there = quote(path.removesuffix(b"?")[:_LONGEST], safe="")
        response.set_cookie(
            asked_cookie(request), there, _MINUTES * 60, httponly=True, samesite="lax"
        )
    return response


def asked_cookie(request: Request) -> str:
    """The cookie that holds which page was asked for by who was not signed in yet."""
    return f"{request.app.state.sessions.cookie}-asked"


def asked_for(request: Request) -> str:
    """Where whoever has signed in goes: what was asked for before, else the first page."""
    there = unquote(request.cookies.get(asked_cookie(request), ""))
    return there if _OWN_PATH.fullmatch(there) else "/"


async def on_known_error(request: Request, error: Exception) -> Response:
    """What a room says is wrong: 400; 404 for what is not there, 503 where the work failed."""
    assert isinstance(error, GradelakeError)
    wants_page = "text/html" in request.headers.get("accept", "")
    if isinstance(error, NothingPublished) and wants_page and (collection := _known(request)):
        with request.app.state.readers.live() as lake:
            has = lake.objects(_HAS, collection)[0]
        title = f"{collection} has no leaderboard yet"
        return page(request, "unpublished", 404, title=title, has=has, release=None)
    status = 404 if isinstance(error, NotThere) else 503 if isinstance(error, WorkFailed) else 400
    return _failed(request, status, error.message, error.hint)


async def on_other_error(request: Request, error: Exception) -> Response:
    """A mistake of ours: its words go to the terminal, for they may hold anything."""
    if known := in_plain_words(error, ours=True):  # the disk is full, the catalog away
        return await on_known_error(request, known)
    console.warn(f"error at {request.url.path}: {type(error).__name__}: {error}")
    return _failed(request, 500, "Something went wrong here.", "See the server's terminal.")
