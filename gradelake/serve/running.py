"""Starting and ending the server."""

import os
import socket
from ipaddress import ip_address

import uvicorn

from gradelake.grading.plan.planner import ensure_views
from gradelake.grading.review.cards import VIEWS
from gradelake.grading.review.queues import VIEWS as QUEUES
from gradelake.serve.app import LOCAL, make_app
from gradelake.serve.people import People
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, is_name
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import author

_AT_ONCE = 500  # connections; more are told to come again


def run(
    project: Project, host: str, port: int, hosts: tuple[str, ...], trust_header: str | None
) -> None:
    """Serve until Ctrl-C. Raises `BadInput` without a lake, and where nothing can listen."""
    with Lake.writer(project) as lake:
        if not lake.nothing_ingested():
            ensure_views(lake, VIEWS + QUEUES)
    people = People(project)
    people.key()
    listening = _listen(host, port)
    port = listening.getsockname()[1]
    names = frozenset((*LOCAL, *map(in_address, (host, *hosts))))
    app = make_app(project, people, port, names, trust_header)
    here = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}
    shown = f"http://{here.get(in_address(host), in_address(host))}:{port}"
    if trust_header:
        console.say(f"serving {project.lake_path} at {shown} to whom {trust_header} names")
    else:
        own = author() if is_name(author()) else "owner"
        console.say(f"serving {project.lake_path}; this link lets you in until the server ends:")
        console.say(f"{shown}/enter#{people.guest(own, 'operator')}")
    console.say("Ctrl-C ends it.")
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # addresses hold what people look at
        server_header=False,
        limit_concurrency=_AT_ONCE,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
        proxy_headers=False,
    )
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        if app.state.writer.is_busy:  # its threads would hold up the end of the process
            console.warn(
                "ended before its work did: nothing half-done is in the lake, and what people "
                "answered waits for the next start"
            )
            os._exit(130)


def in_address(host: str) -> str:
    """A host as browsers write it: in small letters, IPv6 shortened and in brackets."""
    try:
        found = ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return host.lower()
    return f"[{found}]" if found.version == 6 else str(found)


def _listen(host: str, port: int) -> socket.socket:
    host = host.removeprefix("[").removesuffix("]")
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(100)  # who comes before all is ready waits
    except OSError as error:
        raise BadInput(
            f"cannot listen on {host}, port {port}: {error.strerror}", "Choose another: --port."
        ) from None
    return listening
