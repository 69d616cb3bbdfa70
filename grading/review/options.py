"""Options of all commands that choose grades for an assessor to review."""

from typing import Any

import click

from gradelake.sql.common.command_line import refuse_beside, with_options
from gradelake.sql.common.project import check_name
from gradelake.sql.lake.opening import Lake

tau_option = click.option(
    "--tau",
    type=click.IntRange(min=1),
    metavar="T",
    help="The grade from which an item counts as answered. Default: 4, or the top of a shorter "
    "scale.",
)
# what `deal_for` takes
which_grades = with_options(
    click.option(
        "--grader", "grader_name", metavar="NAME", help="The grader whose grades to look at."
    ),
    click.option("--queue", metavar="NAME", help="The cards of this queue, instead of --grader."),
    click.option("--assessor", required=True, metavar="NAME", help="Who reviews."),
    click.option("--query", "query_id", metavar="ID", help="Only grades of this query."),
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
        help="Another seed, another order and sample.",
    ),
    tau_option,
    click.option("--only-answered", is_flag=True, help="Only grades of tau or more."),
)


def deal_for(
    lake: Lake,
    collection: str,
    *,
    grader_name: str | None,
    queue: str | None,
    tau: int | None,
    **choice: Any,
) -> tuple[Any, Any]:
    """The `Assignment` of these options, and its `Deck`; brings dbt's views of reviews up to date.

    Raises `BadInput` where there are no such grades, and unless a grader or a queue is named.
    """
    from gradelake.grading.plan.planner import ensure_views
    from gradelake.grading.review import queues
    from gradelake.grading.review.cards import VIEWS, Assignment, choose_tau, deal, find_grader

    check_name(choice["assessor"], "--assessor")
    if (grader_name is None) == (queue is None):
        raise click.UsageError("Name either a grader (--grader) or a queue (--queue).")
    ensure_views(lake, VIEWS + (queues.VIEWS if queue else ()))
    if queue is None:
        assert grader_name
        grader = find_grader(lake, grader_name)
        assignment = Assignment(collection, grader, tau=choose_tau(lake, grader, tau), **choice)
        return assignment, deal(lake, assignment)
    chosen = ("--query", "--item", "--sample", "--seed", "--only-answered")
    refuse_beside("--queue", dict.fromkeys(chosen, "has its cards chosen, in their order"))
    deal_them = queues.deal_conflicts if choice["settles"] else queues.deal_queue
    grader, deck = deal_them(lake, collection, queue, choice["assessor"], choice["again"])
    tau = tau or grader.relevant_from or choose_tau(lake, grader, tau)
    return Assignment(collection, grader, tau=tau, **choice), deck
