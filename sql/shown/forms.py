"""The forms in which every answer can be had."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from gradelake.sql.shown.answer import Answer

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
