"""The server: its pages, what stands before them, and how it starts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from gradelake.serve import home
from gradelake.serve.guard import Attempts, Guard
from gradelake.serve.pages import on_http_error, on_known_error, on_other_error
from gradelake.serve.people import People
from gradelake.serve.readers import Readers
from gradelake.serve.sessions import Sessions
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.project import Project

_STATIC = {"serve": ("gradelake.serve", "static"), "report": ("gradelake.analyses.report", "page")}
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

    @asynccontextmanager
    async def living(app: Starlette) -> AsyncIterator[None]:
        app.state.readers = Readers(project)
        try:
            yield
        finally:
            app.state.readers.close()

    static = [
        Mount(f"/static/{name}", StaticFiles(packages=[package]))
        for name, package in _STATIC.items()
    ]
    app = Starlette(
        routes=[*home.routes, *static],
        middleware=[Middleware(Guard, sessions=sessions, hosts=hosts, trust_header=trust_header)],
        exception_handlers={
            HTTPException: on_http_error,
            GradelakeError: on_known_error,
            Exception: on_other_error,
        },
        lifespan=living,
    )
    app.state.project = project
    app.state.sessions = sessions
    app.state.trust_header = trust_header
    app.state.attempts = Attempts()
    return app
