"""Statistics for those who cannot be let wait, or trusted: each in a process of its own."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from gradelake.analyses.answers.asking import statistics
from gradelake.calling import name_of, words_of
from gradelake.sql.ask import limited
from gradelake.sql.common import console
from gradelake.sql.common.project import Project, require_known
from gradelake.sql.shown.answer import Answer


def words(name: str, values: Mapping[str, Any]) -> list[str]:
    """A statistic's options as people type them. Raises `BadInput` for one that it has not, and for
    a statistic that there is not."""
    known = statistics()
    require_known(name, known, f"there is no statistic {name!r}")
    options = {name_of(each): each for each in known[name].options}
    for option in values:
        require_known(option, options, f"{name} has no option {option!r}")
    return words_of(options, values)


def computed(
    project: Project, release: str | None, name: str, collection: str, typed: list[str]
) -> Answer:
    """The answer to a statistic over a release (None: the newest). Raises `BadInput`."""
    with limited.release(project, release) as lake, console.quietly(True):
        lake.require_collection(collection)
        return statistics()[name].answer(lake, collection, typed)


def computing(*asked: Any) -> AbstractContextManager:
    """`computed` of these, in a process of its own with limits; as `limited.limited`."""
    return limited.limited(limited.SECONDS, computed, *asked)
