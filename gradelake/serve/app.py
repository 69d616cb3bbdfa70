"""The server: its pages, what stands before them, and how it starts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from gradelake.serve import (
    ask,
    bar,
    boards,
    home,
    people_pages,
    review,
    rubric,
    rubric_jobs,
    statistics,
)
from gradelake.serve.decks import Decks
from gradelake.serve.guard import Attempts, Guard
from gradelake.serve.journal import Journal
from gradelake.serve.pages import on_http_error, on_known_error, on_other_error, to_folder
from gradelake.serve.people import People
from gradelake.serve.readers import Readers
from gradelake.serve.sessions import Sessions
from gradelake.serve.writer import Writer
from gradelake.sql.common import console
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.project import Project

_STATIC = {"serve": ("gradelake.serve", "static"), "report": ("gradelake.analyses.report", "page")}
_SECONDS = 2  # that a review waits for others
_QUIET = 30  # seconds in which a server that starts has other things to do
LOCAL = ("127.0.0.1", "localhost", "[::1]")


def make_app(
    project: Project,
    people: People,
    port: int,
    hosts: frozenset[str] = frozenset(LOCAL),
    trust_header: str | None = None,
) -> Starlette:
    """The server of a project's lake, for `people`, under the names `hosts`."""
    sessions = Sessions(people, port)
    static = [
        Mount(f"/static/{name}", StaticFiles(packages=[package]))
        for name, package in _STATIC.items()
    ]
    pages = (
        *home.routes,
        *review.routes,
        *ask.routes,
        *statistics.routes,
        *rubric.routes,
        *rubric_jobs.routes,
        *bar.routes,
        *boards.routes,
        *people_pages.routes,
    )
    guard = Middleware(
        Guard, sessions=sessions, hosts=hosts, on_error=on_other_error, trust_header=trust_header
    )
    app = Starlette(
        routes=[
            *pages,
            *static,
            *(to_folder(each.path) for each in pages if each.path[1:].endswith("/")),
        ],
        middleware=[guard],
        exception_handlers={HTTPException: on_http_error, GradelakeError: on_known_error},
        lifespan=_living,
    )
    app.router.redirect_slashes = False  # it would name http, behind a proxy that speaks https
    app.state.project = project
    app.state.sessions = sessions
    app.state.trust_header = trust_header
    app.state.attempts = Attempts()
    return app


@asynccontextmanager
async def _living(app: Starlette) -> AsyncIterator[None]:
    """What works while the server is there, and is brought to its end with it."""
    project = app.state.project
    app.state.readers = Readers(project)
    reports = app.state.reports = boards.Reports(project)
    writer = app.state.writer = Writer()
    journal = Journal(project)
    app.state.decks = Decks(journal)
    at_work = [
        asyncio.create_task(_commit(journal, project, writer)),
        asyncio.create_task(_make_early(reports, app.state.readers)),
    ]
    try:
        yield
    finally:
        for task in at_work:
            task.cancel()
        reports.close()
        try:
            if await run_in_threadpool(writer.close):
                await run_in_threadpool(journal.commit, wait=False)
        except Exception as error:
            console.warn(f"reviews wait for the next start in {project.lake_path}: {error}")
        finally:
            journal.close()
            app.state.readers.close()


async def _commit(journal: Journal, project: Project, writer: Writer) -> None:
    """Bring what people answered into the lake, together, every other second."""
    while True:
        await asyncio.sleep(_SECONDS)
        job = writer.submit("reviews", lambda _: journal.commit(), ahead=True)
        while not job.has_ended:
            await asyncio.sleep(_SECONDS / 10)
        try:
            job.outcome.result()
        except Exception as error:  # the disk is full, the catalog away: it is tried again
            console.warn(f"reviews wait in {project.lake_path}: {error}")


async def _make_early(reports: boards.Reports, readers: Readers) -> None:
    """See whether a release was published: by a build of this server, a night, a terminal."""
    await asyncio.sleep(_QUIET)
    while True:
        try:
            await run_in_threadpool(reports.make_early, readers)
        except Exception as error:  # the catalog is away: it is tried again
            console.warn(f"boards are not made before somebody asks: {error}")
        await asyncio.sleep(_SECONDS)
