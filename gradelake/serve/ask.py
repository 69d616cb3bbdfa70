"""The query book's questions as pages, CSV and JSON; and statements of those who may write SQL."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from gradelake.analyses.answers.asking import statistics
from gradelake.serve import found_rows, statement
from gradelake.serve.pages import page, route
from gradelake.serve.people import Person
from gradelake.sql.ask import book, question
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import publishing

_MOST = 2_000  # values in a list to choose from
_TABLES = """
    select
        if(schema_name = 'marts', table_name, schema_name || '.' || table_name) as name,
        any_value(tables.description) as description,
        string_agg(column_name || ' ' || columns.data_type, ', ' order by position) as columns
    from tables
    inner join columns using (schema_name, table_name)
    group by schema_name, table_name
    order by list_position(['marts', 'raw', 'intermediate'], schema_name), name
"""
# what a statement may look like, by what it asks
_EXAMPLES = {
    "The best system under each label set": """
select label_set, system, round(score, 4) as score
from leaderboard
where measure = 'nDCG@10' and rank = 1
group by all
order by label_set""",
    "Labels and judgments that are farthest apart": """
select collection, query_id, passage_id, label_set, label, judgment, text
from disagreements
order by gap desc, query_id, passage_id
limit 20""",
    "Queries and their judgments": """
select collection, query_id, text, count(judgments.passage_id) as n_judgments
from raw.queries
left join raw.judgments using (collection, query_id)
group by all
order by n_judgments desc, query_id""",
}


def questions(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """What the query book can answer of a collection, or what of it has every word of `filter`."""
    collection = request.path_params["collection"]
    with request.app.state.readers.release() as lake:
        lake.require_collection(collection)
    words, groups = request.query_params.get("filter", ""), book.grouped()
    shown = [entry.name for entries in groups.values() for entry in entries if entry.has(words)]
    title = f"Questions about {collection}"
    every = [(one, one.has(words)) for one in statistics().values()]
    about: dict[str, Any] = {"title": title, "groups": groups, "shown": shown, "words": words}
    return page(request, "questions", statistics=every, **about)


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
        about: dict[str, Any] = {
            "entry": entry,
            "values": values,
            "asked_release": release or "",
            "wrong": {},
        }
        about["choices"] = _choices(lake, entry, values["collection"])
        try:
            sql, all_values = book.asked(lake, name, values)
            found = question.rows(lake, sql, all_values)
            if not format_:
                rows, more = found_rows.first(found)
        except BadInput as error:
            if format_:
                raise
            about["wrong"] = wrong = _wrong(lake, entry, values)
            error_of_none = None if wrong else error
            return page(request, "answer", 400, title=entry.question, error=error_of_none, **about)
        if format_:
            pieces = found_rows.pieces(found, format_)
            first = next(pieces)  # what is wrong shows while it can still be said
            return _file(_going_on(first, pieces, stack.pop_all()), format_)
        as_sql = {"sql": entry.written_out(all_values)} | ({"release": release} if release else {})
        about |= {"why_empty": [] if rows else question.why_empty(lake, sql, all_values)}
        about["means"] = entry.meanings(lake, found.columns)
    return page(
        request,
        "answer",
        title=entry.question,
        error=None,
        columns=found.columns,
        rows=found_rows.linked(found.columns, rows, release, entry.looks),
        more=more,
        query=request.url.query,
        as_sql=None if live else urlencode(as_sql),
        **about,
    )


def _choices(lake: Lake, entry: book.BookEntry, collection: str) -> dict[str, list[str] | None]:
    """What each parameter may be, its default first; None where that is too much for a list."""
    found: dict[str, list[str] | None] = {}
    for name, (default, meaning) in entry.parameters.items():
        first = [default, *(["any"] if default != "any" and "any" in meaning.split() else [])]
        known = book.known(lake, name, collection)
        if known is None or len(known) > _MOST:
            found[name] = None
        else:
            others = known.difference(first)
            found[name] = first + sorted(others, key=lambda n: n.zfill(9) if n.isdecimal() else n)
    return found


def _wrong(lake: Lake, entry: book.BookEntry, values: dict[str, str]) -> dict[str, str]:
    """What is wrong with each value that is, by its parameter."""
    found = {}
    for name in entry.parameters.keys() & values.keys():
        try:
            book.asked(lake, entry.name, {name: values[name]})
        except BadInput as error:
            what = error.message.removeprefix("--").replace(name, name.replace("_", " "), 1)
            found[name] = f"{what}. {error.hint or ''}"
    return found


def statements(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The page on which a statement is written; with one in its address, also its rows.

    They are of a release and nothing else, read for 30 seconds at most. Another site's link fills
    the form only: it is the person's to run.
    """
    asked = request.query_params
    text, format_, release = (asked.get(key, "") for key in ("sql", "format", "release"))
    readers, found, error = request.app.state.readers, None, None
    if "sql" in asked and request.headers.get("sec-fetch-site") != "cross-site":
        try:
            found = statement.run(readers.project, release or None, text, format_)
        except BadInput as refused:
            error = refused
    if found and format_ in found_rows.TYPES:
        return _file(iter(found.file), format_)
    with readers.release() as lake:
        about = {"tables": lake.objects(_TABLES), "found": found, "error": error}
        about["releases"] = [
            each.name for each in publishing.available(lake.project, lake.connection)
        ]
    if found:
        about["rows"] = found_rows.linked(found.columns, found.rows, release or None)
    status = 400 if error else 200
    about |= {"sql": text, "asked_release": release, "examples": _EXAMPLES}
    return page(request, "sql", status, title="SQL", **about)


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
]
