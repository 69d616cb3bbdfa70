"""Pages of what is at work: a build and what it moved, grading, and how to begin both."""

from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from gradelake.grading.graders.configured import judges
from gradelake.serve import rubric_grading, rubric_work
from gradelake.serve.pages import page, route
from gradelake.serve.people import Person
from gradelake.serve.writer import Job
from gradelake.sql.common.console import duration
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.common.word_diff import word_diff


def path_of(job: Job) -> str:
    """Where a job's page is."""
    return f"/jobs/{job.id}"


def path_to(what: str, collection: str, query_id: str) -> str:
    """Where a query's page is. A path cannot end in . or .. as browsers read it."""
    at = f"/c/{quote(collection, safe='')}/{what}/"
    query = quote(query_id, safe="")
    return f"{at}?query={query}" if query_id in (".", "..") else f"{at}{query}"


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
    at = f"/c/{quote(collection, safe='')}"
    return page(
        request,
        "rubric_job",
        title=_title(job),
        job=job,
        collection=collection,
        query_id=query_id,
        board=f"{at}/board",
        rubric=f"{at}/rubric/",
        edit=path_to("rubric", collection, query_id) if query_id else None,
        grade=path_to("grading", collection, query_id) if query_id else None,
        questions=f"{at}/ask/",
        build=f"{at}/build",
        word_diff=word_diff,
        duration=duration,
    )


def job_state(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """For the page's script."""
    job = _job(request)
    shown = {"state": job.state, "progress": job.progress, "done": job.done, "total": job.total}
    return JSONResponse(shown | {"ended": job.has_ended})


def stopped(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Stop a job that can be stopped."""
    job = _job(request)
    stop = job.stop
    if stop:
        stop()
    return RedirectResponse(path_of(job), 303)


def built(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Begin a build."""
    state, collection = request.app.state, request.path_params["collection"]
    with state.readers.live() as lake:
        lake.require_collection(collection)
    job = rubric_work.build_job(state.project, state.writer, collection, str(sent.get("query", "")))
    return RedirectResponse(path_of(job), 303)


def grading(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """What graders lack of a query, and what it takes."""
    state, collection = request.app.state, request.path_params["collection"]
    query_id = query_of(request)
    found = rubric_work.in_turn(
        state.writer,
        f"plan {query_id}",
        lambda: rubric_grading.plans(state.project, collection, query_id),
    )
    return page(
        request,
        "rubric_grading",
        title=f"Grade: {query_id}",
        collection=collection,
        query_id=query_id,
        plans=found,
        edit=path_to("rubric", collection, query_id),
        running=[
            job
            for job in state.writer.recent(kind="grade", collection=collection, query_id=query_id)
            if not job.has_ended
        ],
        job_path=path_of,
        duration=duration,
    )


def graded(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Begin to grade."""
    state, collection = request.app.state, request.path_params["collection"]
    query_id = query_of(request)
    with state.readers.live() as lake:
        lake.require_collection(collection)
        if query_id not in lake.query_ids(collection):
            raise HTTPException(404, f"{collection} has no query {query_id!r}.")
    grader, known = str(sent.get("grader", "")), judges(state.project, collection)
    if grader not in known:
        raise HTTPException(400, f"No grader {grader!r}. {did_you_mean(grader, known)}")
    job = rubric_grading.grading_job(state.project, state.writer, collection, query_id, grader)
    return RedirectResponse(path_of(job), 303)


def _job(request: Request) -> Job:
    job = request.app.state.writer.job(request.path_params["id"])
    if job is None:
        raise HTTPException(
            404, "The server no longer knows this job; the board shows what came of it."
        )
    return job


def _title(job: Job) -> str:
    grader = job.about.get("grader")
    if not job.has_ended:
        return f"Grading with {grader}" if grader else "Building"
    if job.state != "done":
        return "Not graded" if grader else "Not built"
    return f"Graded with {grader}" if grader else "Built"


routes = [
    route("/jobs/{id}", "editor", job_page),
    route("/jobs/{id}/state", "editor", job_state),
    route("/jobs/{id}/stop", "operator", stopped, "POST"),
    route("/c/{collection}/build", "editor", built, "POST"),
    route("/c/{collection}/grading/{query_id:path}", "operator", grading),
    route("/c/{collection}/grading/{query_id:path}", "operator", graded, "POST"),
]
