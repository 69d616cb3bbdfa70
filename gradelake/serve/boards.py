"""The report of a collection, live: made once for a release; each thing has an address."""

import re
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any
from urllib.parse import quote, unquote, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gradelake.analyses.report.page import make_report
from gradelake.serve.pages import page, route
from gradelake.serve.people import Person
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import little_memory
from gradelake.sql.lake.lake import Lake

_KEPT = 4  # reports in memory: some MB each
_PATIENCE = 2.0  # seconds that a request waits for one in work
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
# the first part of an address -> the report's view of it (analyses/report/page/address.js)
_VIEWS = {"systems": "system", "queries": "query", "compare": "compare", "labels": "labels"}


class Reports:
    """Reports by release and collection, made one at a time in the background."""

    def __init__(self, project: Project):
        self._project = project
        self._made: OrderedDict[tuple[str, str], Future[str]] = OrderedDict()
        self._lock = threading.Lock()
        self._maker = ThreadPoolExecutor(1, "report")

    def html(self, release: str, collection: str) -> str | None:
        """The page; None while it is still being made. Raises what `make_report` raises."""
        key = (release, collection)
        with self._lock:
            if key not in self._made:
                self._made[key] = self._maker.submit(self._make, *key)
            self._made.move_to_end(key)
            future = self._made[key]
            ended = [one for one, made in self._made.items() if made.done() and one != key]
            for former in ended[: max(0, len(self._made) - _KEPT)]:
                del self._made[former]
        if not wait([future], _PATIENCE).done:
            return None
        if future.exception():  # the next request tries again
            with self._lock:
                self._made.pop(key, None)
        return future.result()

    def close(self) -> None:
        """Make no more of them."""
        self._maker.shutdown(wait=False, cancel_futures=True)

    def _make(self, release: str, collection: str) -> str:
        with (
            Lake.published(self._project, release) as lake,
            little_memory(lake.connection),
            lake.one_state(),
        ):
            html, _ = make_report(self._project, lake, collection, lambda _, items: items)
        return html


def board(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The report's page, with the policy that it states itself."""
    collection = request.path_params["collection"]
    readers = request.app.state.readers
    with readers.release(request.query_params.get("release")) as lake:
        lake.require_collection(collection)
        release = lake.release or ""
    html = request.app.state.reports.html(release, collection)
    if html is None:
        return page(request, "preparing", 202, title=f"{collection}, release {release}")
    policy = _POLICY.search(html)
    assert policy, collection
    headers = {"content-security-policy": f"{policy[1]}; frame-ancestors 'none'"}
    return HTMLResponse(
        html.replace("<header>", f"{_way_back(collection)}<header>", 1), headers=headers
    )


def _way_back(collection: str) -> str:
    """From a board to the server's own pages: what the report, as a file, has not."""
    at = f"/c/{quote(collection, safe='')}"
    return (
        '<nav aria-label="Gradelake"><a href="/">Gradelake</a>'
        f' <a href="{at}/ask/">Questions</a> <a href="{at}/rubric/">Rubric</a></nav>\n'
    )


def thing(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The address of a system, a query, a passage, a comparison: the board, opened there.

    Ids are read from the address as it was sent: a / in an id is %2F there.
    """
    raw = request.scope["raw_path"].decode("ascii", "replace")
    parts = [unquote(part) for part in raw.split("/")]
    if len(parts) < 4:  # a / of the address was %2F
        raise HTTPException(404)
    _, _, collection, kind, *ids = parts
    state = dict(request.query_params)
    release = state.pop("release", None)
    ids = [each for each in ids if each]
    if kind == "passages" and len(ids) == 1:
        ids = [_query_of(request, collection, ids[0], state.pop("query", None)), *ids]
        view = "passage"
    elif kind in _VIEWS and len(ids) == (kind in ("systems", "queries")):
        view = _VIEWS[kind]
    else:
        raise HTTPException(404)
    to = f"/c/{quote(collection, safe='')}/board"
    to += f"?{urlencode({'release': release})}" if release else ""
    to += "#" + "/".join([view, *(quote(each, safe="") for each in ids)])
    return RedirectResponse(to + (f"?{urlencode(state)}" if state else ""), 303)


def _query_of(request: Request, collection: str, passage_id: str, query_id: str | None) -> str:
    """The query that a passage is looked at for: the one named, or the first that it is for."""
    if query_id is not None:
        return query_id
    with request.app.state.readers.release(request.query_params.get("release")) as lake:
        found = lake.value(
            "select min(query_id) from lake.intermediate.int_pool "
            "where collection = ? and passage_id = ?",
            collection,
            passage_id,
        )
    if found is None:
        raise HTTPException(404, "No query of this collection has that passage in its pool.")
    return found


routes = [
    route("/c/{collection}/", "reader", board),
    route("/c/{collection}/board", "reader", board),
    *(
        route(f"/c/{{collection}}/{kind}/{{ids:path}}", "reader", thing)
        for kind in ("systems", "queries", "passages")
    ),
    *(route(f"/c/{{collection}}/{kind}", "reader", thing) for kind in ("compare", "labels")),
]
