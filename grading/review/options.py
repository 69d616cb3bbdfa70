"""Options of all commands that choose grades for an assessor to review."""

from typing import TYPE_CHECKING, Any

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import with_options
from gradelake.sql.common.project import Project, check_name
from gradelake.sql.lake.lake import Lake

if TYPE_CHECKING:
    from gradelake.grading.review.cards import Deck, Wish

# what `dealt` takes
which_grades = with_options(
    click.option("--grader", "grader_name", metavar="NAME", help="Whose grades."),
    click.option("--queue", metavar="NAME", help="The cards of this queue, instead of --grader."),
    click.option("--assessor", required=True, metavar="NAME", help="Who reviews."),
    click.option("--query", "query_id", metavar="ID", help="Only of this query."),
    click.option(
        "--item",
        "item_id",
        metavar="ID",
        help="Only on this rubric item: its id, or how its hash begins.",
    ),
    click.option(
        "--sample", type=click.IntRange(min=1), metavar="N", help="Only N of these grades."
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=1,
        show_default=True,
        help="Another seed, another order and sample.",
    ),
    click.option(
        "--tau",
        type=click.IntRange(min=1),
        metavar="T",
        help="The grade from which an item "
        "counts as answered. Default: 4, or the top of a shorter scale.",
    ),
    click.option("--only-answered", is_flag=True, help="Only grades of tau or more."),
)


def dealt(
    project: Project,
    lake: Lake,
    collection: str,
    grader_name: str | None,
    queue: str | None,
    tau: int | None,
    **wished: Any,
) -> "tuple[Wish, Deck]":
    """The wish of these options, and its cards; brings dbt's views of reviews up to date.

    Raises `BadInput` where there is nothing of it, and unless either a grader or a queue is named.
    """
    from gradelake.grading.plan.planner import ensure_views
    from gradelake.grading.review import queues
    from gradelake.grading.review.cards import VIEWS, Wish, choose_tau, deal, find_grader

    check_name(wished["assessor"], "--assessor")
    if (grader_name is None) == (queue is None):
        raise click.UsageError("Name either a grader (--grader) or a queue (--queue).")
    ensure_views(project, lake, console.tell, VIEWS + (queues.VIEWS if queue else ()))
    if queue is None:
        assert grader_name
        grader = find_grader(lake, grader_name)
        wish = Wish(collection, grader, tau=choose_tau(lake, grader, tau), **wished)
        return wish, deal(lake, wish)
    chosen = [name for name in ("query_id", "item_id", "sample", "only_answered") if wished[name]]
    if chosen:
        raise click.UsageError("A queue's cards are chosen: leave out what would choose others.")
    deals = queues.deal_conflicts if wished.get("settles") else queues.deal_queue
    grader, deck = deals(lake, collection, queue, wished["assessor"], wished.get("again", False))
    tau = tau or grader.relevant_from or choose_tau(lake, grader, tau)
    return Wish(collection, grader, tau=tau, **wished), deck
