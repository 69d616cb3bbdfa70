"""The rubric in the browser: its queries, a query's items to edit, and what an edit does."""

from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gradelake.ingest.rubric import edits_file, preview
from gradelake.ingest.rubric.differences import ItemDifference, differences
from gradelake.ingest.rubric.preview import Version
from gradelake.ingest.rubric.rubric import Rubric
from gradelake.ingest.rubric.rubric_text import query_as_object
from gradelake.ingest.rubric.save import Proposal, Saved, Session, numbered, save
from gradelake.ingest.rubric.up_to_date import open_up_to_date, open_without_build
from gradelake.serve import rubric_form, rubric_rows
from gradelake.serve.pages import page, route, texts
from gradelake.serve.people import Person
from gradelake.serve.rubric_form import Form, Line
from gradelake.serve.rubric_jobs import build_job, path_of, path_to, query_of
from gradelake.serve.writer import Writer
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, Busy
from gradelake.sql.common.project import Project


def queries(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The queries of a collection, with what the newest release says of their items."""
    if "query" in request.query_params:
        return query(request, person, sent)
    state, collection = request.app.state, request.path_params["collection"]
    with state.readers.release() as lake:
        lake.require_collection(collection)
        chosen = rubric_rows.chosen(lake, collection, request.query_params)
        rows = rubric_rows.queries(lake, chosen)
        release = lake.release
    for row in rows:
        row["path"] = path_to("rubric", collection, row["query_id"])
        if asked := request.url.query:  # what was chosen here holds there
            row["path"] += f"{'&' if '?' in row['path'] else '?'}{asked}"
    saved = edits_file.newest_version(edits_file.read(state.project), collection)
    waiting = f"{counted(saved - chosen.version, 'saved versions', 'are')} not built yet"
    return page(
        request,
        "rubric",
        title=f"Rubric: {collection}",
        collection=collection,
        queries=rows,
        chosen=chosen,
        release=release,
        waiting=waiting if saved > chosen.version else "",
        jobs=state.writer.recent(collection=collection)[:5],
        job_path=path_of,
    )


def query(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """A query's items, in a form."""
    state, collection, query_id = _asked(request)
    rubric = _read(state.project, state.writer, collection, query_id)
    form = rubric_form.of_rubric(rubric, query_id, rubric.newest)
    return _form_page(request, Tried(form, rubric))


def sent_form(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Preview a form, or save it and begin to build. What is refused is shown with what was sent.

    409 where somebody else edited the query since the form was made.
    """
    state, collection, query_id = _asked(request)
    form = rubric_form.of_fields(texts(sent), query_id)
    if more := sent.get("more"):
        rubric = _read(state.project, state.writer, collection, query_id)
        return _form_page(request, Tried(form, rubric), more)
    saves = sent.get("do") == "save"
    try:
        tried = state.writer.in_turn(
            f"{'save' if saves else 'preview'} {query_id}",
            lambda: _tried(state.project, collection, form, person.name, saves),
        )
    except Busy as error:
        rubric = _read(state.project, state.writer, collection, query_id)
        tried = Tried(form, rubric, 503, messages=[error.message, error.hint or ""])
    if saves and tried.saved and tried.saved.version is not None:
        about = (collection, query_id, person.name, tried.saved)
        job = build_job(state.project, state.writer, *about)
        return RedirectResponse(path_of(job), 303)
    if tried.saved and not tried.saved.edits:
        tried.messages = ["Nothing is changed in this form."]
    return _form_page(request, tried)


def _asked(request: Request) -> tuple[Any, str, str]:
    return request.app.state, request.path_params["collection"], query_of(request)


def _form_page(request: Request, tried: "Tried", more: str = "") -> Response:
    """`more`: the place of a part that is to have one more row for a new item."""
    form, rubric, collection = tried.form, tried.rubric, tried.rubric.collection
    known: dict[str, dict[str, Any]] = {}
    chosen, cover = None, None
    try:
        with request.app.state.readers.release() as lake:
            chosen = rubric_rows.chosen(lake, collection, request.query_params)
            known = rubric_rows.items(lake, form.query_id, chosen)
            cover = rubric_rows.cover(lake, form.query_id, chosen)
    except BadInput:  # there is no release yet, or not of this collection
        pass
    about = query_as_object(rubric, form.query_id, rubric.newest)
    history = {(one["bank"], one["item_id"]): one["in_this_version"] for one in about["items"]}
    history |= {(one["bank"], one["item_id"]): one["why"] for one in about["dropped"]}
    n_changes = rubric_form.mark_changes(form, rubric)

    def badness(line: Line) -> tuple[float, int]:
        return rubric_rows.worst_first(known.get(line.item_id))

    parts = []  # worst first, and so their items; each with its place in the form
    for place, part in enumerate(form.parts):
        parts.append((place, part, sorted(enumerate(part.items), key=lambda one: badness(one[1]))))
        part.new.append(Line())  # one more may be written
    parts.sort(key=lambda one: min(map(badness, one[1].items), default=badness(Line())))
    return page(
        request,
        "rubric_query",
        title=f"Rubric: {form.query_id}",
        collection=collection,
        refused=tried.status == 400,
        more=more,
        is_behind=tried.status == 409,
        query_text=about["query_text"],
        facets=rubric.facets.get(form.query_id, {}),
        history=history,
        known=known,
        parts=parts,
        n_changes=n_changes,
        n_ungraded=sum(not item["n_graded"] for item in known.values()),
        chosen=chosen,
        cover=cover,
        newest=rubric.newest,
        grade=path_to("grading", collection, form.query_id),
        **vars(tried),
    )


# --- in the writer's thread -----------------------------------------------------------------------


@dataclass
class Tried:
    """What came of a form: saved, or what it would do. `status` is 409 where the query changed
    meanwhile, by `others`, and `form` is then on the newest version; 400 where it is refused."""

    form: Form
    rubric: Rubric
    status: int = 200
    saved: Saved | None = None
    versions: list[Version] = field(default_factory=list)
    others: list[ItemDifference] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


def _read(project: Project, writer: Writer, collection: str, query_id: str) -> Rubric:
    """A query's rubric with every edit of the file. Raises `BadInput` where there is none."""
    lake = open_without_build(project)
    if lake is None:
        what = f"the rubric of {collection} up to date"
        return writer.in_turn(what, lambda: _current(project, collection, query_id)[0])
    with lake:
        lake.require_collection(collection)
        return Rubric(lake, collection, (query_id,))


def _current(project: Project, collection: str, query_id: str) -> tuple[Rubric, list]:
    lake, rows = open_up_to_date(project)
    with lake:
        lake.require_collection(collection)
        return Rubric(lake, collection, (query_id,)), rows


def _tried(project: Project, collection: str, form: Form, editor: str, saves: bool) -> Tried:
    """Save a form, or see what it will do. In the writer's thread."""
    rubric, rows = _current(project, collection, form.query_id)
    rubric.check_version(form.version)
    if rubric_form.is_behind(form, rubric):
        found = differences(rubric, form.version, rubric.newest)
        others = [each for each in found if each.item.query_id == form.query_id]
        forward = rubric_form.brought_forward(form, rubric)
        return Tried(forward, rubric, 409, others=others)
    done = Tried(form, rubric)
    form.version = rubric.newest  # the query is the same in it
    try:
        session = Session(project, rubric, rows, editor=editor)
        edits = rubric_form.edits_of(form, rubric)
        proposal = Proposal(session, edits, form.version, rubric_form.SHOWN, form.reason)
        done.saved = save(proposal) if saves else numbered(proposal)
        if not saves:
            done.versions = preview.of_proposed(project, collection, done.saved)
    except BadInput as error:
        done.status = 400
        done.messages = rubric_form.note_problems(form, error)
    return done


_AT = "/c/{collection}/rubric"
routes = [
    route(f"{_AT}/", "reader", queries),
    route(f"{_AT}/{{query_id:path}}", "reader", query),
    route(f"{_AT}/{{query_id:path}}", "editor", sent_form, "POST"),
]
