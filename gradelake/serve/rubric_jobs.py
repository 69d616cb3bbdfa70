"""What is at work: builds and what they moved, grading; their pages, and how to begin them."""

from collections import Counter
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from gradelake.analyses.report.report_queries import ask_book
from gradelake.grading.graders.configured import judges
from gradelake.ingest.rubric import preview
from gradelake.ingest.rubric.save import Saved
from gradelake.serve import rubric_grading
from gradelake.serve.pages import at, page, route
from gradelake.serve.people import Person
from gradelake.serve.writer import Job, Writer
from gradelake.sql.common.project import Project, did_you_mean
from gradelake.sql.lake.opening import Lake

_SHOWN = 30  # systems whose score moved
_PAST = 200  # of what was done
# nights and builds are of the whole lake; who began one is not known once its version was let go
_HISTORY = """
    with

    runs as (
        select
            started.snapshot_id,
            graded.started_at,
            concat('grade with ', graded.grader) as what,
            graded.state,
            graded.wall_seconds as seconds,
            format('{:,} of {:,} pairs', ok + unanswerable + defaulted, planned) as outcome
        from lake.marts.grading_runs as graded
        inner join (select run_id, snapshot_id from lake.raw.grading_runs) as started using (run_id)
        where graded.collection = $collection
        union all
        select
            snapshot_id,
            started_at,
            coalesce(counts ->> '$.night', command) as what,
            state,
            epoch(finished_at) - epoch(started_at) as seconds,
            coalesce(error, 'release ' || (counts ->> '$.release')) as outcome
        from lake.raw.pipeline_runs
        where command in ('build', 'nightly')
    )

    select
        runs.*,
        commits.author
    from runs
    left join lake.snapshots() as commits using (snapshot_id)
    order by runs.started_at desc
    limit $shown
"""


def path_of(job: Job) -> str:
    """Where a job's page is."""
    return f"/jobs/{job.id}"


def path_to(what: str, collection: str, query_id: str) -> str:
    """Where a query's page is. A path cannot end in . or .. as browsers read it."""
    query = quote(query_id, safe="")
    return f"{at(collection)}/{what}/{'?query=' * (query_id in ('.', '..'))}{query}"


def query_of(request: Request) -> str:
    """The query that a page is about. Raises 404 where it names none."""
    query_id = request.path_params.get("query_id") or request.query_params.get("query")
    if not query_id:
        raise HTTPException(404)
    return query_id


def job_page(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """How far it is; when it ended, what came of it and what to do next."""
    job = _job(request)
    collection, query_id = job.about["collection"], job.about["query_id"]
    has_page = query_id or job.about["kind"] == "grade"
    return page(
        request,
        "rubric_job",
        title=_title(job),
        job=job,
        collection=collection,
        query_id=query_id,
        there=at(collection),
        edit=path_to("rubric", collection, query_id) if query_id else None,
        grade=path_to("grading", collection, query_id or "") if has_page else None,
    )


def job_state(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """The state of a job, for the page's script."""
    job = _job(request)
    shown = {"state": job.state, "progress": job.progress, "done": job.done, "total": job.total}
    return JSONResponse(shown | {"ended": job.has_ended})


def stopped(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Stop a job that can be stopped."""
    job = _job(request)
    if stop := job.stop:
        stop()
    return RedirectResponse(path_of(job), 303)


def built(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Begin a build."""
    state, collection = request.app.state, request.path_params["collection"]
    with state.readers.live() as lake:
        lake.require_collection(collection)
    about = (collection, str(sent.get("query", "")), person.name)
    job = build_job(state.project, state.writer, *about)
    return RedirectResponse(path_of(job), 303)


def grading(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """What graders lack of a query, or of all queries, and what it takes; of all, what was done."""
    state, collection = request.app.state, request.path_params["collection"]
    query_id = _one_or_all(request)
    found = state.writer.in_turn(
        f"plan {query_id or collection}",
        lambda: rubric_grading.plans(state.project, collection, query_id),
    )
    about = {"collection": collection} | ({"query_id": query_id} if query_id else {})
    history: list[dict[str, Any]] = []
    if not query_id:
        with state.readers.live() as lake:
            history = lake.objects(_HISTORY, collection=collection, shown=_PAST)
    return page(
        request,
        "rubric_grading",
        title=f"Grade: {query_id}" if query_id else f"Grading and costs: {collection}",
        collection=collection,
        query_id=query_id,
        plans=found,
        missing_queries=[query for query, _ in _missing(found).most_common()],
        grade_path=partial(path_to, "grading", collection),
        edit=path_to("rubric", collection, query_id) if query_id else None,
        jobs=state.writer.recent(**about),
        history=history,
        job_path=path_of,
    )


def _missing(plans: list[dict[str, Any]]) -> Counter[str]:
    """How many grades are missing by query, of all graders."""
    counts = Counter[str]()
    for plan in plans:
        counts.update(plan.get("missing_of", {}))
    return counts


def graded(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Begin to grade, with one grader or, in turn, all that the form names."""
    state, collection = request.app.state, request.path_params["collection"]
    query_id = _one_or_all(request)
    with state.readers.live() as lake:
        lake.require_collection(collection)
        if query_id and query_id not in lake.query_ids(collection):
            raise HTTPException(404, f"{collection} has no query {query_id!r}.")
    graders, known = str(sent.get("grader", "")).split(), judges(state.project, collection)
    for grader in graders or [""]:
        if grader not in known:
            raise HTTPException(400, f"No grader {grader!r}. {did_you_mean(grader, known)}")
    about = (state.project, state.writer, collection, query_id, graders, person.name)
    return RedirectResponse(path_of(rubric_grading.grading_job(*about)), 303)


def _one_or_all(request: Request) -> str | None:
    """The query that a page of grading is about; None: all."""
    return request.path_params["query_id"] or request.query_params.get("query")


def _job(request: Request) -> Job:
    job = request.app.state.writer.job(request.path_params["id"])
    if job is None:
        raise HTTPException(
            404, "This job is no longer known; the history under Grading and costs may have it."
        )
    return job


def _title(job: Job) -> str:
    grader = job.about.get("grader")
    if not job.has_ended:
        return f"Grading with {grader}" if grader else "Building"
    if job.state != "done":
        return "Not graded" if grader else "Not built"
    return f"Graded with {grader}" if grader else "Built"


def build_job(
    project: Project,
    writer: Writer,
    collection: str,
    query_id: str,
    by: str,
    saved: Saved | None = None,
) -> Job:
    """A build in its turn; its result says what it moved. `saved`: what was saved before it."""

    def work(job: Job) -> dict[str, Any]:
        def on_total(n: int) -> None:
            job.total = n

        def on_node(name: str, status: str, seconds: float) -> None:
            job.done += 1
            job.progress = f"{job.done:,} of {job.total:,} tables and checks"

        from gradelake.sql.build.building import build

        job.progress = "checking what changed"
        built = build(project, [], ["build"], on_node=on_node, on_total=on_total)
        job.progress = "comparing leaderboards"
        with Lake.published(project) as lake:
            lake.connection.execute("use lake.marts")
            return {"built": built, **what_moved(lake, collection)}

    about: dict[str, Any] = {"kind": "build", "collection": collection, "by": by}
    edits = [edit.as_object() for edit in saved.edits] if saved else []
    about |= {"query_id": query_id, "version": saved and saved.version, "edits": edits}
    return writer.submit("build", work, **about)


def what_moved(lake: Lake, collection: str) -> dict[str, Any]:
    """What the newest version of a rubric changed against the one before it."""
    version = lake.value(
        "select max(rubric_version) from rubric_versions where collection = ?", collection
    )
    moved = preview.moved(lake, collection, version or 0)
    measure = next((row["measure"] for row in moved["label_sets"] if row["measure"]), None)
    asked = {"collection": collection, "rubric_version": version, "policy": "any"}
    rows = ask_book(lake, "leaderboard_shift", measure=measure, **asked) if measure else []
    changed = [row for row in rows if row["score_after"] != row["score_before"]]
    changed.sort(key=lambda row: -abs((row["rank_after"] or 0) - (row["rank_before"] or 0)))
    systems = changed[:_SHOWN]
    return {"version": version, **moved, "measure": measure, "systems": systems}


routes = [
    route("/jobs/{id}", "editor", job_page),
    route("/jobs/{id}/state", "editor", job_state),
    route("/jobs/{id}/stop", "operator", stopped, "POST"),
    route("/c/{collection}/build", "editor", built, "POST"),
    route("/c/{collection}/grading/{query_id:path}", "operator", grading),
    route("/c/{collection}/grading/{query_id:path}", "operator", graded, "POST"),
]
