"""`gradelake queue`: cards that several people review."""

import click

from gradelake.grading.review.options import tau_option
from gradelake.grading.review.queue_sources import MOST, SOURCES
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, typed
from gradelake.sql.common.counted import counted


def _print_added(made):
    name, collection = made["queue"], made["collection"]
    console.say(
        f"{name}: {counted(made['n_cards'], 'cards')} of {made['grader']}, "
        f"{counted(made['overlap'], 'people')} for each"
    )
    for one in made["assessors"]:
        console.say(f"  {one['assessor']}: {counted(one['n_assigned'], 'cards')}")
    first = click.get_current_context().params["assessors"][0]
    console.hint(f"next: gradelake review {collection} --queue {name} --assessor {first}")


def _print_queues(found):
    if not found:
        console.say(
            "no queue yet: gradelake queue add COLLECTION NAME --grader NAME --assessor NAME"
        )
        return
    rows = [
        (
            *(one[key] for key in ("collection", "queue", "grader", "source")),
            f"{one['n_done']}/{one['n_cards']}",
            one["n_conflicts"],
            person["assessor"],
            f"{person['n_answered']}/{person['n_assigned']}",
        )
        for one in found
        for person in one["assessors"]
    ]
    columns = ("collection", "queue", "grader", "source", "done", "conflicts", "assessor")
    console.print_table((*columns, "answered"), rows)
    for one in found:
        for pair in one["agreement"]:
            console.say(pair["words"])


@click.group(short_help="Share the reviewing of grades.")
def queue():
    """Have several people review grades, each card as many of them as you say.

    \b
    Examples:
      gradelake queue add dl19 first --grader flan --assessor ann --assessor bob
      gradelake queue list
    """


@queue.command(short_help="Choose grades for several people to review.")
@click.argument("collection")
@click.argument("name")
@click.option("--grader", metavar="NAME", help="The grader whose grades are reviewed.")
@click.option(
    "--label-set",
    metavar="NAME",
    help="Instead of a grader: the label set whose pairs of query and passage are judged.",
)
@click.option(
    "--from",
    "source",
    type=click.Choice(SOURCES),
    help="What they are chosen from. Default: sample; with --label-set: estimate.",
)
@click.option(
    "--size",
    type=click.IntRange(min=1),
    help=f"How many cards, at most. Default: 60, and all of the pool; else {MOST:,} at most.",
)
@click.option(
    "--overlap", type=click.IntRange(min=1), default=2, help="How many people review each card."
)
@click.option(
    "--assessor",
    "assessors",
    multiple=True,
    required=True,
    metavar="NAME",
    help="Who reviews; may be repeated.",
)
@tau_option
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    metavar="K",
    help=(
        "With --label-set, or from the pool: only passages that some system ranked in its first K."
    ),
)
@click.option(
    "--label-names",
    metavar="NAME,...",
    help="The names of labels 0, 1 and so on of the scale of judgments, for the card.",
)
@click.option(
    "--queries",
    help=(
        "From the pool: only these queries, in this order: ids separated by commas, or a file of "
        "ids."
    ),
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    help="Another seed, another sample, order and assignment.",
)
@answering(_print_added)
@click.pass_obj
def add(project, collection, name, label_names, queries, size, **options):
    """Choose grades of a COLLECTION for several people to review, or pairs to judge, as the queue
    NAME.

    From: sample (of all grades, high ones more often), spurious (answers found in non-relevant
    passages), uncovered (relevant passages without an answer), disagreements (grades that make
    labels far from judgments), never-covered (the best grades of items that nothing answers). With
    --label-set: estimate (pairs that narrow `stats estimate` most), sample (in proportion to its
    labels). With neither: pool (all that systems rank high, query after query, before anything has
    graded it; the people of a query judge all its passages).

    \b
    Examples:
      gradelake queue add dl19 first --grader flan --size 60 \\
          --assessor ann --assessor bob --assessor cy
      gradelake queue add dl19 doubts --grader flan --from spurious \\
          --overlap 3 --assessor ann --assessor bob --assessor cy
      gradelake queue add dl19 pairs --label-set judge:Sun --size 100 --depth 10 \\
          --overlap 1 --assessor ann
      gradelake queue add dl19 pool --from pool --depth 10 \\
          --assessor ann --assessor bob
    """
    from gradelake.grading.commands import chosen_queries
    from gradelake.grading.review.queues import add_queue

    names = [each.strip() for each in label_names.split(",")] if label_names else None
    with console.working("choosing cards"):
        options |= {"label_names": names, "queries": chosen_queries(queries), "size": size}
        return add_queue(project(), typed(), collection, name, **options)


@queue.command("list", short_help="How far people are with their queues.")
@click.argument("collection", required=False)
@answering(_print_queues, "Print a JSON array.")
@click.pass_obj
def list_(project, collection):
    """Say how far people are with the queues of a COLLECTION, or of all.

    \b
    Examples:
      gradelake queue list
      gradelake queue list dl19 --json
    """
    from gradelake.grading.review.queues import list_queues

    return list_queues(project(), collection)


@queue.command(short_help="Remove a queue; reviews stay.")
@click.argument("collection")
@click.argument("name")
@click.pass_obj
def remove(project, collection, name):
    """Remove the queue NAME of a COLLECTION. What people answered stays in the lake.

    \b
    Examples:
      gradelake queue remove dl19 first
    """
    from gradelake.grading.review.queues import drop_queue

    drop_queue(project(), typed(), collection, name)
    console.say(f"removed {name}; what people answered stays")
