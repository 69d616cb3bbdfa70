"""`gradelake probe`."""

from functools import partial

import click

from gradelake.grading.commands import ASKS_NOTHING, round_options, show_plans
from gradelake.grading.sentinel.commands import show_rounds
from gradelake.sql.common.command_line import answering, refuse_beside


def _show(result):
    from gradelake.grading.plan.plans import Plans

    show = (
        show_plans
        if isinstance(result, Plans)
        else partial(show_rounds, what="probe", question="@probes")
    )
    show(result)


@click.command(short_help="Attack a judge with made-up passages: what raises its grades?")
@click.argument("collection")
@click.option(
    "--grader", "graders", multiple=True, required=True, help="A grader of gradelake.toml."
)
@click.option(
    "--size",
    type=click.IntRange(5, 10_000),
    default=25,
    show_default=True,
    help="Passages judged relevant, and as many others.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**31 - 1),
    default=1,
    show_default=True,
    help="Another seed draws other passages.",
)
@click.option(
    "--plan", "plans", is_flag=True, help="Say what it would ask, at what cost; ask nothing."
)
@click.option("--now", is_flag=True, help="Ask all of it again, even if that is not due yet.")
@round_options
@answering(_show)
@click.pass_obj
def probe(project, collection, graders, size, seed, plans, **options):
    """Attack graders with made-up variants of passages of a COLLECTION that people judged.

    The query is repeated in a passage, or is all of it; the passage claims to be relevant, or
    tells the judge so; its sentences are shuffled, doubled, cut. What is made is kept, and its
    grades are apart from all others: after `gradelake build`, `gradelake sql @probes` says how
    often each attack raises a grade. Stop it at any moment, or kill it: the same command goes on.

    \b
    Exit codes: 0 done, 3 some pairs failed, 1 a grader failed, 130 stopped.

    \b
    Examples:
      gradelake probe demo --grader lexical_direct --plan
      gradelake probe dl19 --grader umbrela --size 50 --max-cost 2
    """
    from gradelake.grading.probe import probe as capability

    asked = capability.Probe(collection=collection, graders=list(graders), size=size, seed=seed)
    if plans:
        pointless = ("--now", "--limit", "--max-minutes", "--max-cost")
        refuse_beside("--plan", dict.fromkeys(pointless, ASKS_NOTHING))
        return capability.plan(project(), asked)
    return capability.watch(project(), asked, **options)
