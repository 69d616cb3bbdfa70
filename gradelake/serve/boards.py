"""The report of a collection, live: made once for a release; each thing has an address."""

import gzip
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from gradelake.analyses.compare.comparison import compare
from gradelake.analyses.report.page import ReportRequest, make_report
from gradelake.serve.pages import at, page, route
from gradelake.serve.people import Person
from gradelake.serve.readers import Readers
from gradelake.sql.common import console
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import little_memory
from gradelake.sql.lake.opening import Lake

_KEPT = 8  # reports in memory: some MB each
_PATIENCE = 2.0  # seconds that a request waits for one in work
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
# the first part of an address below a collection's (analyses/report/page/paths.js)
# and whether a release has it
_THINGS = {
    "systems": "from lake.raw.systems where collection = $1 and system = $2",
    "queries": "from lake.raw.queries where collection = $1 and query_id = $2",
    "passages": """from (
        select collection, passage_id from lake.raw.passages
        union all
        select collection, passage_id from lake.marts.pool
    ) where collection = $1 and passage_id = $2""",
    "items": "from lake.marts.rubric_items_effective where collection = $1 and item_id = $2",
}
_PAIRS = {"compare": "systems", "labels": "label sets"}
_NAMED = _THINGS | {
    "label sets": "from lake.marts.label_sets where collection = $1 and label_set = $2"
}
_TABS = ("systems", "queries", "judges")
_NAMES = "select collection from lake.raw.collections order by all"


@dataclass(frozen=True)
class Made:
    """A report as it is sent, whoever asks: its bytes, the same zipped, and its headers."""

    plain: bytes
    zipped: bytes
    headers: dict[str, str]


class Reports:
    """Reports by release and collection, made in the background: one at a time of those that are
    asked for, and, while none is, of those that nobody has asked for yet."""

    def __init__(self, project: Project):
        self.sentences: dict[tuple[str, str], list[dict[str, str]]] = {}
        self._project = project
        self._made: OrderedDict[tuple[str, str], Future[Made]] = OrderedDict()
        self._lock = threading.Lock()
        self._maker = ThreadPoolExecutor(1, "report")
        self._early_maker = ThreadPoolExecutor(1, "early report")
        self._early: set[tuple[str, str]] = set()
        self._asked: set[tuple[str, str]] = set()  # and not made yet
        self._newest, self._ends = "", False

    def made(self, release: str, collection: str) -> Made | None:
        """The report; None while it is still being made. Raises what `make_report` raises."""
        key = (release, collection)
        with self._lock:
            if key in self._early and self._made[key].cancel():  # others are before it
                del self._made[key]
            self._early.discard(key)
            if key not in self._made:
                self._asked.add(key)
                self._made[key] = self._maker.submit(self._make, *key)
            self._made.move_to_end(key)
            future = self._made[key]
            ended = [one for one, made in self._made.items() if made.done() and one != key]
            for former in ended[: max(0, len(self._made) - _KEPT)]:
                del self._made[former]
                self._early.discard(former)
        if not wait([future], _PATIENCE).done:
            return None
        if future.exception():  # the next request tries again
            with self._lock:
                self._made.pop(key, None)
        return future.result()

    def make_early(self, readers: Readers) -> None:
        """Have the reports of the newest release made, once, whoever published it."""
        release = readers.newest()
        if release is None or release == self._newest:
            return
        with readers.release(release) as lake:
            keys = [(release, name) for name in lake.column(_NAMES)[:_KEPT]]
        with self._lock:
            for key in [key for key in self._early if self._made[key].cancel()]:  # of one before
                del self._made[key]
                self._early.remove(key)
            self._newest = release
            for key in keys:
                if key not in self._made:
                    self._early.add(key)
                    self._made[key] = self._early_maker.submit(self._make, *key)

    def close(self) -> None:
        self._ends = True
        for maker in (self._maker, self._early_maker):
            maker.shutdown(wait=False, cancel_futures=True)

    def _steps(self, key: tuple[str, str], what: str, items: Iterable, total: int) -> Iterator:
        """The items, until the server ends; what nobody asked for lets others go first."""
        for item in items:
            while key in self._early and self._asked and not self._ends:
                time.sleep(0.1)
            if self._ends:
                raise WorkFailed("the server is ending", "Try again when it is back.")
            yield item

    def _make(self, release: str, collection: str) -> Made:
        key, asked = (release, collection), ReportRequest(at=at(collection))
        steps = partial(self._steps, key)
        try:
            with (
                Lake.published(self._project, release) as lake,
                little_memory(lake.connection),
                lake.one_state(),
            ):
                html, about = make_report(self._project, lake, collection, asked, steps)
        finally:
            self._asked.discard(key)
        self.sentences[key] = about["sentences"]
        policy = _POLICY.search(html)
        assert policy, collection
        plain = html.encode()
        headers = {
            "content-security-policy": f"{policy[1]}; frame-ancestors 'none'",
            "cache-control": "private, no-cache",  # kept, and asked for each time
            "etag": f'W/"{sha256(plain).hexdigest()[:32]}"',
            "vary": "accept-encoding",
        }
        # no secret is in it, and nothing of the request: what is zipped tells nobody anything
        return Made(plain, gzip.compress(plain), headers)


def board(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The report's page, with the policy that it states itself. Its script reads the address."""
    collection = request.path_params["collection"]
    readers = request.app.state.readers
    with readers.release(request.query_params.get("release")) as lake:
        lake.require_collection(collection)
        release = lake.release or ""
    made = request.app.state.reports.made(release, collection)
    if made is None:
        return page(request, "preparing", 202, title=f"{collection}, release {release}")
    section = request.path_params.get("section", "board")
    if not (section.isalpha() and f'<section id="{section}"'.encode() in made.plain):
        raise HTTPException(404)
    if made.headers["etag"] in re.split(r",\s*", request.headers.get("if-none-match", "")):
        return Response(None, 304, made.headers)
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return HTMLResponse(made.plain, headers=made.headers)
    return HTMLResponse(made.zipped, headers=made.headers | {"content-encoding": "gzip"})


def thing(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The address of a system, query, passage, item or comparison: the board, which shows it.

    Ids are read from the address as it was sent: a / in an id is %2F there.
    """
    raw = request.scope["raw_path"].decode("ascii", "replace")
    parts = [unquote(part) for part in raw.split("/")]
    collection = request.path_params["collection"]
    kind = parts[3] if parts[2] == collection else ""  # else a / of the address was %2F
    ids = [each for each in parts[4:] if each]
    if kind not in (*_THINGS, *_PAIRS) or len(ids) != (kind in _THINGS):
        raise HTTPException(404)
    _require_things(request, collection, kind, ids)
    if kind == "passages" and "query" not in request.query_params:
        query = urlencode(
            [("query", _query_of(request, collection, *ids)), *request.query_params.multi_items()]
        )
        return RedirectResponse(f"{at(collection)}/{kind}/{quote(ids[0], safe='')}?{query}", 303)
    return board(request, person, sent)


def _require_things(request: Request, collection: str, kind: str, ids: list[str]) -> None:
    """Raise 404 for an id of the address that the release does not have."""
    values = request.query_params
    named = [(kind, each) for each in ids]
    if kind == "queries" or kind in _PAIRS:
        paired = _PAIRS.get(kind, "systems")
        named += [(paired, values[name]) for name in "ab" if name in values]
    elif kind == "passages" and "query" in values:
        named.append(("queries", values["query"]))
    with request.app.state.readers.release(values.get("release")) as lake:
        lake.require_collection(collection)
        for kind, each in named:
            if not lake.rows(f"select 1 {_NAMED[kind]} limit 1", collection, each):
                one = "query" if kind == "queries" else kind.removesuffix("s")
                raise HTTPException(404, f"Collection {collection} has no {one} {each!r}.")


def compared(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """What `gradelake compare` says of two systems, for the script of their page."""
    asked = dict(request.query_params)
    level = asked.get("level", "")
    if not level.isdecimal():
        raise HTTPException(400, "level: a whole number is needed.")
    names = (request.path_params["collection"], asked.get("a", ""), asked.get("b", ""))
    with request.app.state.readers.release(asked.get("release")) as lake:
        found = compare(lake, names, asked.get("measure"), asked.get("labels"), int(level))
        return JSONResponse(console.plain(found.as_object()))


def _query_of(request: Request, collection: str, passage_id: str) -> str:
    """The first query that a passage is for, where none is named."""
    with request.app.state.readers.release(request.query_params.get("release")) as lake:
        found = lake.value(
            "select min(query_id) from lake.marts.pool where collection = ? and passage_id = ?",
            collection,
            passage_id,
        )
    if found is None:
        raise HTTPException(404, "No query of this collection has that passage in its pool.")
    return found


routes = [
    route("/c/{collection}/", "reader", board),
    route("/c/{collection}/board", "reader", board),
    route("/c/{collection}/board/{section}", "reader", board),
    *(route(f"/c/{{collection}}/{tab}", "reader", board) for tab in _TABS),
    *(route(f"/c/{{collection}}/{kind}/{{ids:path}}", "reader", thing) for kind in _THINGS),
    *(route(f"/c/{{collection}}/{kind}", "reader", thing) for kind in _PAIRS),
    route("/c/{collection}/compare.json", "reader", compared),
]
