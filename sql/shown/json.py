"""An answer as one JSON object: what was asked, and its tables by their names, values in full."""

from gradelake.sql.common import console
from gradelake.sql.shown.answer import Answer


def render(answer: Answer) -> str:
    """One line of JSON; undefined is null."""
    return console.as_json(answer.as_object()) + "\n"
