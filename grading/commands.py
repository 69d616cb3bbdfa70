"""Commands that grade: plan and grade."""

import os
import sys
import time
from pathlib import Path

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import with_options
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.lake import Lake

_request_options = with_options(
    click.argument("collection"),
    click.option("--queries", help="Only these: ids with commas between, or a file of them."),
    click.option(
        "--rubric-version",
        type=click.IntRange(min=0),
        help="Whose items to grade; 0 is the bank as it came. Default: the newest.",
    ),
    click.option("--limit", type=click.IntRange(min=1), help="How many pairs at most."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
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


@click.command(short_help="Say what graders have still to do, in what time, at what cost.")
@_request_options
@click.option("--grader", "names", multiple=True, help="A grader of gradelake.toml; default: all.")
@click.pass_obj
def plan(project, collection, queries, rubric_version, limit, as_json, names):
    """Say what graders have still to do on a COLLECTION, in what time, and at what cost.

    \b
    Examples:
      gradelake plan dl19
      gradelake plan dl19 --grader flan
    """
    from gradelake.grading.graders.configured import configured, judges
    from gradelake.grading.plan.planner import NothingToGrade, Plan, check_queries, ensure_views
    from gradelake.grading.plan.request import Request
    from gradelake.grading.run.run_text import plan_as_object, print_plans

    project = project()
    chosen = names or judges(project, collection)
    if not chosen and not as_json:
        raise BadInput(
            f"{project.file}: no graders yet that grade {collection}",
            "Describe one: [graders.NAME] engine, prompt, ...",
        )
    plans, refused = [], []
    with console.working("planning"), Lake.writer(project) as lake:
        check_queries(lake, collection, chosen_queries(queries))
        ensure_views(project, lake, console.tell)
        for name in chosen:
            try:
                grader = configured(project, lake, name)
                request = Request(
                    collection, grader, rubric_version, chosen_queries(queries), limit
                )
                plans.append((grader, Plan(lake, request).totals))
            except BadInput as error:
                if len(chosen) == 1 and (names or not as_json):
                    raise
                refused.append((name, error))
    if not plans and not as_json and len({str(why) for _, why in refused}) == 1:
        raise refused[0][1]  # of no grader, but of what was asked
    for name, why in refused:
        console.warn(f"{name}: {why}")
    if as_json:
        reasons = [
            {
                "grader": name,
                "reason": why.message,
                "nothing_to_grade": isinstance(why, NothingToGrade),
            }
            for name, why in refused
        ]
        planned = [plan_as_object(*plan) for plan in plans]
        console.print_json({"collection": collection, "plans": planned, "refused": reasons})
    else:
        print_plans(plans)


@click.command(short_help="Grade what a COLLECTION's pool lacks of a grader.")
@_request_options
@click.option(
    "--grader", "name", required=True, help="A grader of gradelake.toml; NAME.all: all its trials."
)
@click.option("--dry-run", is_flag=True, help="Plan only; grade nothing.")
@click.option("--retry-failed", is_flag=True, help="Also pairs that failed before.")
@limit_options
@click.option("--wait", is_flag=True, help="Of a grader in batches: until all is collected.")
@click.pass_obj
def grade(
    project,
    collection,
    queries,
    rubric_version,
    limit,
    as_json,
    name,
    dry_run,
    retry_failed,
    max_minutes,
    max_cost,
    wait,
):
    """Grade what a COLLECTION's pool lacks of a grader, and commit it chunk by chunk.

    Stop it at any moment (Ctrl-C), or kill it: the same command continues where it stopped. Exit
    code 3 means that some pairs failed; they are listed in marts.failed_grades.
    A grader with batch = true collects what was answered and submits the rest.

    \b
    Examples:
      gradelake grade dl19 --grader flan
      gradelake grade dl19 --grader flan --queries 19335,47923 --limit 1000
      gradelake grade dl19 --grader gpt --max-cost 5
      gradelake grade dl19 --grader gpt.all
      gradelake grade dl19 --grader in_batches --wait
    """
    from gradelake.grading.graders.trials import trials_of
    from gradelake.grading.plan.planner import Plan, ensure_views
    from gradelake.grading.run import run as runs
    from gradelake.grading.run.progress import Progress
    from gradelake.grading.run.run_text import plan_as_object, print_plans, print_run, run_as_object

    project = project()
    chosen = chosen_queries(queries)
    requests = [
        runs.requested(project, collection, each, rubric_version, chosen, limit)
        for each in trials_of(project, name)
    ]
    if dry_run:
        with console.working("planning"), Lake.writer(project) as lake:
            ensure_views(project, lake, console.tell)
            planned = [(request.grader, Plan(lake, request).totals) for request in requests]
        if as_json:
            objects = [plan_as_object(*each) for each in planned]
            console.print_json({"collection": collection, **_one_or_all("plan", objects)})
        else:
            print_plans(planned)
        return
    done = []
    began, seconds, money = time.monotonic(), max_minutes and 60 * max_minutes, max_cost
    for request in requests:
        with Progress() as progress:
            limits = (retry_failed, seconds, money, wait)
            run = runs.grade(project, request, console.tell, progress, *limits)
        done.append((request, run))
        if not as_json:
            print_run(request, run)
        seconds = seconds and began + 60 * max_minutes - time.monotonic()
        money = money and money - (run.cost or 0)
        is_over = run.stopped or run.out_of_time or run.out_of_money
        if is_over or (seconds is not None and seconds <= 0) or (money is not None and money <= 0):
            break
    if left := requests[len(done) :]:
        console.tell(f"not begun: {', '.join(request.grader.name for request in left)}")
    if as_json:
        objects = [run_as_object(*each) for each in done]
        console.print_json(objects[0] if len(requests) == 1 else {"trials": objects})
    sys.exit(max(run.exit_code for _, run in done))


def _one_or_all(name, objects):
    return {name: objects[0]} if len(objects) == 1 else {f"{name}s": objects}


def chosen_queries(queries: str | None) -> tuple[str, ...] | None:
    """Ids from the command line, or the first column of a file."""
    from gradelake.sql.common import (
        files,  # it brings pandera, which `gradelake --help` should not wait for
    )

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
