"""Adding and removing queues in a project's lake: for the command line, and for the server."""

from collections.abc import Callable, Sequence
from typing import Any

from gradelake.grading.plan.planner import ensure_views
from gradelake.grading.review import cards, queues
from gradelake.grading.review.queue_wish import wish_for
from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake


def add_queue(
    project: Project,
    tell: Callable[[str], None],
    arguments: Sequence[str],
    collection: str,
    name: str,
    **wished: Any,
) -> dict[str, Any]:
    """Make a queue of what `wish_for` takes, and return its object of `queues_of`. `tell` is told
    what takes long. Raises `BadInput` as `wish_for` and `make_queue` do."""
    with Lake.writer(project) as lake:
        lake.require_collection(collection)
        ensure_views(project, lake, tell, cards.VIEWS + queues.VIEWS)
        return queues.make_queue(lake, wish_for(lake, collection, name, **wished), arguments)


def drop_queue(
    project: Project,
    tell: Callable[[str], None],
    arguments: Sequence[str],
    collection: str,
    name: str,
) -> None:
    """Remove a queue; what people answered stays. Raises `BadInput` where there is none."""
    with Lake.writer(project) as lake:
        ensure_views(project, lake, tell, queues.VIEWS)
        queues.remove_queue(lake, collection, name, arguments)
