"""The query book's questions as pages, CSV and JSON; and statements of those who may write SQL."""

import csv
import io
import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from numbers import Number
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
from gradelake.sql.common.spreadsheet import shown_row
from gradelake.sql.lake.opening import Lake

_SHOWN = 1_000  # rows on a page
_LETTERS = 2_000  # of a cell on a page
_LARGEST = 64_000_000  # letters of a statement's CSV or JSON
_SECONDS = 30.0  # for a statement
_BATCH = 500  # rows that are in memory at once
_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
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
    if format_ not in ("", *_TYPES):
        raise HTTPException(404, "An answer is a page, or a .csv or .json file.")
    values = {key: value for key, value in request.query_params.items() if value != ""}
    release = values.pop("release", None)
    values["collection"] = request.path_params["collection"]
    entry = book.entry(name)
    readers = request.app.state.readers
    live = entry.live and release is None
    with ExitStack() as stack:
        lake = stack.enter_context(readers.live() if live else readers.release(release))
        lake.require_collection(values["collection"])
        lake.connection.execute("use lake.marts")
        lake.allows_files = True  # the book's own statement
        found = question.rows(lake, *book.asked(lake, name, values))
        if format_:
            pieces = _pieces(found, format_)
            first = next(pieces)  # what is wrong shows while it can still be said
            return _file(_going_on(first, pieces, stack.pop_all()), format_)
        rows, more = _first(found)
        return page(
            request,
            "answer",
            title=entry.question,
            entry=entry,
            values=values,
            query=request.url.query,
            columns=found.columns,
            rows=rows,
            more=more,
        )


def statements(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The page on which a statement is written."""
    return _statement_page(request, "")


def run(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """A statement's rows. It reads a release and nothing else, for 30 seconds at most."""
    text, format_, release = (str(sent.get(key, "")) for key in ("sql", "format", "release"))
    try:
        with _confined(request, release or None) as lake:
            found = question.rows(lake, question.one_statement(text))
            if format_ in _TYPES:
                return _file(iter(_limited(_pieces(found, format_))), format_)
            rows, more = _first(found)
            return _statement_page(request, text, columns=found.columns, rows=rows, more=more)
    except BadInput as error:
        return _statement_page(request, text, 400, error=error)


def _statement_page(request: Request, text: str, status: int = 200, **found: Any) -> Response:
    """`found`: columns, rows and whether there are `more`; or the error."""
    nothing = {"columns": [], "rows": [], "more": False, "error": None}
    return page(request, "sql", status, title="SQL", sql=text, **nothing | found)


@contextmanager
def _confined(request: Request, release: str | None) -> Iterator[Lake]:
    """A release in a connection of its own, closed to all else, that ends after its time."""
    if not _at_once.acquire(blocking=False):
        raise HTTPException(503, "Two statements are running already: try again in a moment.")
    is_late, is_done = threading.Event(), threading.Event()
    try:
        with Lake.published(request.app.state.project, release) as lake:
            lake.connection.execute("set memory_limit = '1GB'; set max_temp_directory_size = '4GB'")
            confined.prepare(lake, allow_files=False)

            def end_late() -> None:
                if not is_done.wait(_SECONDS):
                    is_late.set()
                    lake.connection.interrupt()
                    while not is_done.wait(0.5):  # between two of its queries none is interrupted
                        lake.connection.interrupt()

            watching = threading.Thread(target=end_late, daemon=True)
            watching.start()
            try:
                yield lake
            except (BadInput, duckdb.Error, RuntimeError, KeyboardInterrupt):
                if not is_late.is_set():
                    raise
                late = f"timed out after {_SECONDS:g} s"
                raise BadInput(late, "Ask for less of it.") from None
            finally:
                is_done.set()
                watching.join()
    finally:
        _at_once.release()


def _batches(found: duckdb.DuckDBPyRelation) -> Iterator[list[tuple]]:
    """All rows, some at a time. Raises `BadInput` with DuckDB's own words."""
    while rows := question.in_words(lambda: found.fetchmany(_BATCH)):
        yield rows


def _first(found: duckdb.DuckDBPyRelation) -> tuple[list[tuple], bool]:
    """What a page shows, and whether there is more."""
    rows: list[tuple] = []
    for batch in _batches(found.limit(_SHOWN + 1)):
        rows += [tuple(map(_shown, row)) for row in batch]
    return rows[:_SHOWN], len(rows) > _SHOWN


def _shown(value: Any) -> Any:
    """A value as a page has it: a long one is cut, and says how long it is."""
    if value is None or isinstance(value, Number):
        return value
    text = str(value)
    if len(text) <= _LETTERS:
        return text
    return f"{text[:_LETTERS]} … ({len(text):,} letters; a file has all)"


def _pieces(found: duckdb.DuckDBPyRelation, format_: str) -> Iterator[str]:
    """As `gradelake sql --csv` and `--json` print them; the first piece has the first rows."""
    is_csv, columns = format_ == "csv", found.columns
    head, between, tail = (_csv([columns]), "", "") if is_csv else ("[", ", ", "]")
    before = head
    for rows in _batches(found):
        yield before + (_csv(rows) if is_csv else _json(columns, rows))
        before = between
    yield (head if before == head else "") + tail


def _csv(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(console.UnixLines(text), lineterminator="\r\n").writerows(map(shown_row, rows))
    return text.getvalue()


def _json(columns: list[str], rows: list[tuple]) -> str:
    records = console.plain([dict(zip(columns, row, strict=True)) for row in rows])
    return json.dumps(records)[1:-1]


def _limited(pieces: Iterator[str]) -> list[str]:
    """A file that fits into memory. Raises `BadInput` for another."""
    kept, size = [], 0
    for piece in pieces:
        kept.append(piece)
        size += len(piece)
        if size > _LARGEST:
            raise BadInput(
                f"a file of this is larger than {_LARGEST // 1_000_000} MB",
                "Ask for less of it, or for it in parts: limit, offset, where.",
            )
    return kept


def _going_on(first: str, pieces: Iterator[str], lake: ExitStack) -> Iterator[str]:
    with lake:
        yield first
        yield from pieces


def _file(pieces: Iterator[str], format_: str) -> Response:
    headers = {"content-disposition": "attachment"} if format_ == "csv" else {}
    return StreamingResponse(pieces, media_type=_TYPES[format_], headers=headers)


routes = [
    route("/c/{collection}/ask/", "reader", questions),
    route("/c/{collection}/ask/{name}", "reader", answer),
    route("/sql", "editor", statements),
    route("/sql", "editor", run, "POST"),
]
