"""People in the browser: operators let somebody in, give them a new link, and take it away."""

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gradelake.serve.pages import page, route
from gradelake.serve.people import ROLES, Person
from gradelake.sql.common.errors import BadInput


def people(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Who may enter, and as what."""
    return _page(request)


def added(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Let somebody in. The page shows their link, once: only a hash of its secret is kept.

    Who is there already keeps their link, unless a new one is asked for.
    """
    name, role = str(sent.get("name", "")).strip(), str(sent.get("role", ""))
    everybody = request.app.state.sessions.people
    try:
        if role not in ROLES:
            raise BadInput("Choose a role.")
        _require_other(name, person)
        if "again" not in sent and name in [one.name for one in everybody.everybody()]:
            raise BadInput(f"{name} is in the list already", "Change their role or link there.")
        secret = everybody.add(name, role)
    except BadInput as error:
        return _page(request, 400, form={"name": name, "role": role}, error=error)
    # behind a proxy that speaks TLS only the browser knows the scheme; the guard checked the host
    url = request.headers.get("origin") or str(request.base_url).rstrip("/")
    return _page(request, new={"name": name, "role": role, "link": f"{url}/enter#{secret}"})


def removed(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """Let somebody in no longer; their reviews stay."""
    name = str(sent.get("name", ""))
    _require_other(name, person)
    request.app.state.sessions.people.remove(name)
    return RedirectResponse("/people", 303)


def _require_other(name: str, person: Person) -> None:
    """Raise `BadInput` for whoever asks: a wrong click must not end their own session. A guest, who
    started the server, is in no list."""
    if name == person.name and person.added_at:
        raise BadInput(
            "You cannot change your own access", "Another operator can, or `gradelake assessor`."
        )


def _page(request: Request, status: int = 200, **values: Any) -> Response:
    empty = {"form": {"name": "", "role": "assessor"}, "error": None, "new": None}
    found = {"people": request.app.state.sessions.people.everybody(), "roles": ROLES}
    return page(request, "people", status, title="People", **found, **(empty | values))


routes = [
    route("/people", "operator", people),
    route("/people", "operator", added, "POST"),
    route("/people/remove", "operator", removed, "POST"),
]
