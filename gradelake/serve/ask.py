"""The query book's questions as pages, CSV and JSON; and statements of those who may write SQL."""

import csv
import io
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from gradelake.serve.pages import page, route
from gradelake.serve.people import Person
from gradelake.sql.ask import book, confined, question
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.lake import Lake

_SHOWN = 1_000  # rows on a page
_MOST = 100_000  # rows of a statement's CSV or JSON
_SECONDS = 30.0  # for a statement
_at_once = threading.BoundedSemaphore(2)  # statements that run: one may use all cores


def questions(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """What the query book can answer of a collection."""
    collection = request.path_params["collection"]
    with request.app.state.readers.release() as lake:
        lake.require_collection(collection)
    entries = [one for one in book.entries().values() if "collection" in one.parameters]
    title = f"Questions about {collection}"
    return page(request, "questions", title=title, collection=collection, entries=entries)


def answer(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """A question's rows: a page with its parameters, or all of them as .csv or .json."""
    name, _, format_ = request.path_params["name"].partition(".")
    if format_ not in ("", "csv", "json"):
        raise HTTPException(404, "An answer is a page, or a .csv or .json file.")
    given = {key: value for key, value in request.query_params.items() if value != ""}
    release = given.pop("release", None)
    given["collection"] = request.path_params["collection"]
    entry = book.entry(name)
    readers = request.app.state.readers
    live = entry.live and release is None
    with readers.live() if live else readers.release(release) as lake:
        lake.require_collection(given["collection"])
        lake.connection.execute("use lake.marts")
        lake.allows_files = True  # the book's own statement
        found = question.rows(lake, *book.asked(lake, name, given))
        if format_:
            return _file(found.columns, found.fetchall(), format_)
        rows = found.limit(_SHOWN + 1).fetchall()
        return page(
            request,
            "answer",
            title=entry.question,
            entry=entry,
            given=given,
            query=request.url.query,
            columns=found.columns,
            rows=rows[:_SHOWN],
            more=len(rows) > _SHOWN,
            cell=_cell,
        )


def statements(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The page on which a statement is written."""
    return _statement_page(request, "", [], [], None)


def run(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """A statement's rows. It reads a release and nothing else, for 30 seconds at most."""
    text, format_ = sent.get("sql", ""), sent.get("format", "")
    try:
        with _confined(request, sent.get("release") or None) as lake:
            found = question.rows(lake, question.one_statement(text))
            most = _MOST if format_ else _SHOWN
            columns, rows = found.columns, found.limit(most + 1).fetchall()
    except BadInput as error:
        return _statement_page(request, text, [], [], error)
    except (duckdb.InterruptException, RuntimeError) as error:
        if "nterrupt" not in str(error):
            raise
        late = BadInput(f"this took longer than {_SECONDS:.0f} seconds", "Ask for less of it.")
        return _statement_page(request, text, [], [], late)
    if format_ in ("csv", "json"):
        return _file(columns, rows[:most], format_)
    return _statement_page(request, text, columns, rows, None)


def _statement_page(
    request: Request, text: str, columns: list[str], rows: list[tuple], error: BadInput | None
) -> Response:
    return page(
        request,
        "sql",
        400 if error else 200,
        title="SQL",
        sql=text,
        columns=columns,
        rows=rows[:_SHOWN],
        more=len(rows) > _SHOWN,
        error=error,
        cell=_cell,
    )


@contextmanager
def _confined(request: Request, release: str | None) -> Iterator[Lake]:
    """A release in a connection of its own, closed to all else, that ends after its time."""
    if not _at_once.acquire(blocking=False):
        raise HTTPException(503, "Two statements are running already: try again in a moment.")
    try:
        with Lake.published(request.app.state.project, release) as lake:
            lake.connection.execute("set memory_limit = '1GB'; set max_temp_directory_size = '4GB'")
            confined.prepare(lake, allow_files=False)
            timer = threading.Timer(_SECONDS, lake.connection.interrupt)
            timer.start()
            try:
                yield lake
            finally:
                timer.cancel()
    finally:
        _at_once.release()


def _file(columns: list[str], rows: Iterable[tuple], format_: str) -> Response:
    """As `gradelake sql --csv` and `--json` print them."""
    if format_ == "json":
        records = console.plain([dict(zip(columns, row, strict=True)) for row in rows])
        return Response(json.dumps(records), media_type="application/json")

    def lines() -> Iterator[str]:
        for row in (columns, *rows):
            line = io.StringIO()
            writer = csv.writer(line, lineterminator="\r\n")  # what it ends with, it quotes
            writer.writerow(["" if value is None else value for value in row])
            yield line.getvalue().removesuffix("\r\n") + "\n"

    headers = {"content-disposition": "attachment"}
    return StreamingResponse(lines(), media_type="text/csv; charset=utf-8", headers=headers)


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


routes = [
    route("/c/{collection}/ask/", "reader", questions),
    route("/c/{collection}/ask/{name}", "reader", answer),
    route("/sql", "editor", statements),
    route("/sql", "editor", run, "POST"),
]
