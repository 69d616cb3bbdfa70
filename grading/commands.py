"""Commands that grade: plan and grade."""

import os
from pathlib import Path

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, refuse_beside, with_options
from gradelake.sql.common.errors import BadInput

_SHOWN = 10  # lines of one kind
ASKS_NOTHING = "asks nothing"  # why an option means nothing beside another
pairs_option = click.option("--limit", type=click.IntRange(min=1), help="How many pairs at most.")
_request_options = with_options(
    click.argument("collection"),
    click.option(
        "--queries", help="Only these queries: ids separated by commas, or a file of ids."
    ),
    click.option(
        "--rubric-version",
        type=click.IntRange(min=0),
        help=(
            "The rubric version whose items to grade; 0 is the bank as it came. Default: the "
            "newest."
        ),
    ),
    pairs_option,
)

# of what asks models
limit_options = with_options(
    click.option(
        "--max-minutes",
        type=click.FloatRange(min=0, min_open=True),
        help="Begin nothing new after so many minutes, loading models included.",
    ),
    click.option(
        "--max-cost",
        type=click.FloatRange(min=0, min_open=True),
        help="Spend no more than this, by the prices of seeds/prices.csv.",
    ),
)


# of what is asked again by schedule
round_options = with_options(pairs_option, limit_options)


def show_plans(plans):
    """Print a table of plans, and why others have none."""
    from gradelake.grading.run.run_text import print_plans

    refused = plans.refused or []
    if not plans.plans and len({str(error) for _, error in refused}) == 1:
        raise refused[0][1]  # of no grader, but of what was asked
    if not plans.plans and not refused:
        raise BadInput(
            f"no graders yet that grade {plans.collection}",
            "Describe one in gradelake.toml: [graders.NAME] engine, prompt, ...",
        )
    for name, error in refused:
        console.warn(f"{name}: {error}")
    print_plans(plans.plans)


def _show_grading(done):
    from gradelake.grading.plan.plans import Plans
    from gradelake.grading.run.run_text import print_runs

    if isinstance(done, Plans):  # a dry run
        show_plans(done)
    else:
        print_runs(done.runs)


@click.command(short_help="Say what graders have to do, how long it takes, its cost.")
@_request_options
@click.option("--grader", "names", multiple=True, help="A grader of gradelake.toml; default: all.")
@answering(show_plans)
@click.pass_obj
def plan(project, collection, queries, names, **request):
    """Say what graders still have to do on a COLLECTION, how long it takes, and what it costs.

    \b
    Examples:
      gradelake plan dl19
      gradelake plan dl19 --grader flan
    """
    from gradelake.grading.plan.plans import plan

    return plan(project(), collection, names, chosen_queries(queries), **request)


@click.command(short_help="Grade what graders have not graded yet of a COLLECTION.")
@_request_options
@click.option(
    "--grader",
    "graders",
    multiple=True,
    required=True,
    help="A grader of gradelake.toml; NAME.all: all its trials. May be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Plan only; grade nothing.")
@click.option("--retry-failed", is_flag=True, help="Also grade all pairs that failed before.")
@click.option(
    "--retry",
    multiple=True,
    type=click.Choice(["refused", "unreadable", "no_reply"]),
    help="Also grade pairs that failed this way. What got no reply is asked about again anyway.",
)
@click.option(
    "--reread",
    is_flag=True,
    help="Read replies to the same prompts with another parser; ask nothing.",
)
@limit_options
@click.option("--wait", is_flag=True, help="For a grader in batches: wait until all is collected.")
@answering(_show_grading)
@click.pass_obj
def grade(project, collection, graders, queries, **request):
    """Grade what graders have not graded yet of a COLLECTION's pool, and commit it chunk by chunk.

    Stop it at any moment (Ctrl-C), or kill it: the same command continues where it stopped. Exit
    code 3 means that some pairs failed; they are listed in marts.failed_grades.
    A grader with batch = true collects what was answered and submits the rest.

    \b
    Examples:
      gradelake grade dl19 --grader flan
      gradelake grade dl19 --grader flan --queries 19335,47923 --limit 1000
      gradelake grade dl19 --grader gpt --max-cost 5
      gradelake grade dl19 --grader gpt.all --grader umbrela
      gradelake grade dl19 --grader in_batches --wait
      gradelake grade dl19 --grader gpt --retry unreadable
      gradelake grade dl19 --grader gpt_lenient --reread
    """
    from gradelake.grading.run.grading import grade

    if request["dry_run"]:
        pointless = ("--max-minutes", "--max-cost", "--wait")
        refuse_beside("--dry-run", dict.fromkeys(pointless, ASKS_NOTHING))
    if request["reread"]:
        refuse_beside("--reread", {"--max-cost": ASKS_NOTHING})
    return grade(project(), collection, graders, chosen_queries(queries), **request)


def chosen_queries(queries: str | None) -> tuple[str, ...] | None:
    """Ids from the command line, or the first column of a file."""
    # it brings pandera, which `gradelake --help` should not wait for
    from gradelake.sql.common import files

    if queries is None:
        return None
    if os.path.isfile(queries):
        lines = files.numbered_lines(files.read(Path(queries), queries))
        ids = [line.split()[0] for _, line in lines]
    else:
        ids = [query_id.strip() for query_id in queries.split(",") if query_id.strip()]
    if not ids:
        raise BadInput(f"--queries {queries}: no query ids")
    return tuple(dict.fromkeys(ids))


def warn_first(lines: list[str]) -> None:
    """The first of many lines, and how many there are besides; --json has all."""
    for line in lines[:_SHOWN]:
        console.warn(line)
    if len(lines) > _SHOWN:
        console.warn(f"and {len(lines) - _SHOWN:,} more like these (--json has all)")
