"""The query book's questions as pages, CSV and JSON; and statements of those who may write SQL."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from gradelake.serve import found_rows, statement
from gradelake.serve.pages import page, route
from gradelake.serve.people import Person
from gradelake.sql.ask import book, question
from gradelake.sql.common.errors import BadInput


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
    if format_ not in ("", *found_rows.TYPES):
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
        try:
            statement_and_values = book.asked(lake, name, values)
            found = question.rows(lake, *statement_and_values)
        except BadInput as error:
            if format_:
                raise
            return _answer_page(request, entry, values, error=error)
        if format_:
            pieces = found_rows.pieces(found, format_)
            first = next(pieces)  # what is wrong shows while it can still be said
            return _file(_going_on(first, pieces, stack.pop_all()), format_)
        rows, more = found_rows.first(found)
        why_empty = [] if rows else question.why_empty(lake, *statement_and_values)
        return _answer_page(
            request, entry, values, columns=found.columns, rows=rows, more=more, why_empty=why_empty
        )


def _answer_page(
    request: Request,
    entry: book.Entry,
    values: dict[str, str],
    error: BadInput | None = None,
    **of_rows: Any,
) -> Response:
    """The form with what was asked, and the rows, or what is wrong with it."""
    about = {"entry": entry, "values": values, "query": request.url.query, "error": error}
    status = 400 if error else 200
    return page(request, "answer", status, title=entry.question, **about, **of_rows)


def statements(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The page on which a statement is written."""
    return _statement_page(request, "")


def run(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """A statement's rows. It reads a release and nothing else, for 30 seconds at most."""
    text, format_, release = (str(sent.get(key, "")) for key in ("sql", "format", "release"))
    try:
        found = statement.run(request.app.state.project, release or None, text, format_)
    except BadInput as error:
        return _statement_page(request, text, error=error)
    if format_ in found_rows.TYPES:
        return _file(iter(found.file), format_)
    return _statement_page(request, text, found)


def _statement_page(
    request: Request, text: str, found: statement.Found | None = None, error: BadInput | None = None
) -> Response:
    title, status = "SQL", 400 if error else 200
    return page(request, "sql", status, title=title, sql=text, found=found, error=error)


def _going_on(first: str, pieces: Iterator[str], lake: ExitStack) -> Iterator[str]:
    with lake:
        yield first
        yield from pieces


def _file(pieces: Iterator[str], format_: str) -> Response:
    headers = {"content-disposition": "attachment"} if format_ == "csv" else {}
    return StreamingResponse(pieces, media_type=found_rows.TYPES[format_], headers=headers)


routes = [
    route("/c/{collection}/ask/", "reader", questions),
    route("/c/{collection}/ask/{name}", "reader", answer),
    route("/sql", "editor", statements),
    route("/sql", "editor", run, "POST"),
]
