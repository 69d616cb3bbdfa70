"""Statistics as pages: a form of each one's options, its answer, and files of it."""

from typing import Any
from urllib.parse import urlencode

import click
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from gradelake.analyses.answers.asking import Statistic, statistics
from gradelake.calling import name_of
from gradelake.completion import names_of
from gradelake.serve.pages import page, route
from gradelake.serve.people import Person
from gradelake.serve.statement import one_of_few
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.shown import html
from gradelake.sql.shown.answer import Answer
from gradelake.sql.shown.forms import ENDINGS, written
from gradelake.statistics import computing, words

_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "tex": "text/x-tex",
    "md": "text/markdown",
    "svg": "image/svg+xml",
    "png": "image/png",
}
_PICTURES = ("svg", "png")
_SHARED = (12.5, 6.5625)  # inches of a PNG: the shape that chats and slides show whole, 1200 to 630


def statistic(request: Request, person: Person, sent: dict[str, Any]) -> Response:
    """A statistic of a collection: a page, or a file by the ending of its name."""
    name, _, ending = request.path_params["name"].partition(".")
    known = statistics()
    if name not in known or ending not in ("", *_TYPES):
        raise HTTPException(404, "There is no such statistic, or it has no such file.")
    one, collection = known[name], request.path_params["collection"]
    with request.app.state.readers.release() as lake:
        lake.require_collection(collection)
    given = _given(request)
    release = given.pop("release", None)
    needed = [name_of(each) for each in one.options if each.required and name_of(each) not in given]
    found, error = None, None
    if not needed:
        project = request.app.state.readers.project
        try:
            typed = words(name, given)
            with one_of_few(), computing(project, release, name, collection, typed) as result:
                found = result()
        except BadInput as refused:
            error = refused
    if ending:
        if found is None:
            raise error or BadInput(f"choose {', '.join(needed)} first")
        return Response(_file(found, ending), media_type=_TYPES[ending])
    return page(
        request,
        "statistic",
        400 if error else 200,
        title=one.short,
        one=one,
        fields=_fields(one, given, request.app.state.readers.project, collection),
        needed=needed,
        error=error,
        shown=html.render(found) if found else "",
        endings=[each for each in _TYPES if each not in _PICTURES or (found and found.picture)],
        query=urlencode(given | ({"release": release} if release else {}), doseq=True),
    )


def _given(request: Request) -> dict[str, Any]:
    """What the address asks for, by name: a list where a name stands there twice."""
    pairs = [(name, value) for name, value in request.query_params.multi_items() if value]
    several = {name: [value for key, value in pairs if key == name] for name, _ in pairs}
    return {name: all_of[0] if len(all_of) == 1 else all_of for name, all_of in several.items()}


def _fields(
    statistic: Statistic, given: dict[str, Any], project: Project, collection: str
) -> list[dict[str, Any]]:
    """The options as a form has them: of each its name, help, what it may be and what it is, and
    names that there are."""
    fields = []
    for option in statistic.options:
        name, default = name_of(option), option.to_info_dict().get("default")
        if option.nargs != 1 or (option.multiple and not isinstance(option.type, click.Choice)):
            default = ""
        choices = getattr(option.type, "choices", None)
        fields.append(
            {
                "name": name,
                "help": getattr(option, "help", None) or "",
                "is_flag": getattr(option, "is_flag", False),
                "choices": choices and [*choices],
                "default": "" if default is None else default,
                "value": given.get(name, ""),
                "names": names_of(option, "stats", project, collection),
            }
        )
    return fields


def _file(found: Answer, ending: str) -> str | bytes:
    if ending not in _PICTURES:
        return written(found, ENDINGS[f".{ending}"])
    from gradelake.sql.shown.pictures.picture import draw

    if found.picture is None:
        raise BadInput("there is no picture of this answer")
    return draw(found.picture, ending, *(_SHARED if ending == "png" else ()))


routes = [route("/c/{collection}/stats/{name}", "reader", statistic)]
