"""The forms in which every answer can be had."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from gradelake.sql.common import console
from gradelake.sql.shown.answer import Answer, Page

FORMS = ("table", "csv", "json", "latex", "markdown", "html")
ENDINGS: Mapping[str, str] = {
    ".txt": "table",
    ".csv": "csv",
    ".json": "json",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
}


def written(answer: Answer, form: str, standalone: bool = False) -> str:
    """The whole answer in one of `FORMS`, or of its own; `standalone`: LaTeX to compile."""
    if form in answer.forms:
        return answer.forms[form]()
    module = import_module(f"gradelake.sql.shown.{'text' if form == 'table' else form}")
    render: Callable[..., str] = module.lines if form == "table" else module.render
    if form == "latex":
        render = partial(render, standalone=standalone)
    return render(answer)


def paged(page: Page, form: str) -> str:
    """A page as `markdown`, `latex`, `html` or `json`."""
    if form == "json":
        return console.as_json(page.as_object()) + "\n"
    return import_module(f"gradelake.sql.shown.{form}").page(page)
