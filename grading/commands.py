"""Commands that grade: plan and grade."""

import os
import sys
from pathlib import Path

import click

from sql import console, files
from sql.errors import BadInput
from sql.lake import Lake
from sql.project import did_you_mean


def _request_options(command):
    options = [
        click.argument("collection"),
        click.option("--queries", help="Only these: ids with commas between, or a file of them."),
        click.option("--rubric-version", default=0, show_default=True, type=click.IntRange(min=0),
                     help="Whose items to grade; 0 is the bank as it came."),
        click.option("--limit", type=click.IntRange(min=1), help="How many pairs at most."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@_request_options
@click.option("--grader", "names", multiple=True, help="A grader of gradelake.toml; default: all.")
@click.pass_obj
def plan(project, collection, queries, rubric_version, limit, as_json, names):
    """Say what graders have still to do on a COLLECTION, and how long it may take.

    \b
    Example:
      gradelake plan dl19 --grader flan
    """
    from grading.planner import Plan, ensure_views
    from grading.report import plan_as_object, print_plans
    from grading.work import Request

    project = project()
    names = names or tuple(project.graders)
    if not names:
        raise BadInput(
            f"{project.file}: no graders yet", "Describe one: [graders.NAME] engine, prompt, ..."
        )
    plans = []
    with Lake.writer(project) as lake:
        ensure_views(project, lake, console.warn)
        for name in names:
            try:
                grader = _grader(project, lake, name)
                request = Request(collection, grader, rubric_version, _query_ids(queries), limit)
                plans.append((grader, Plan(lake, request).totals))
            except BadInput as error:
                if len(names) == 1:
                    raise
                console.warn(f"{name}: {error}")
    if as_json:
        console.print_json({"collection": collection, "plans": [plan_as_object(*p) for p in plans]})
    else:
        print_plans(plans)


@click.command()
@_request_options
@click.option("--grader", "name", required=True, help="A grader of gradelake.toml.")
@click.option("--dry-run", is_flag=True, help="Plan only; grade nothing.")
@click.option("--retry-failed", is_flag=True, help="Also pairs that failed before.")
@click.pass_obj
def grade(
    project, collection, queries, rubric_version, limit, as_json, name, dry_run, retry_failed
):
    """Grade what a COLLECTION's pool lacks of a grader, and commit it chunk by chunk.

    It can be stopped at any moment (Ctrl-C), or killed: the same command goes on where it was.
    Exit code 3 means that some pairs failed; they are listed in marts.failed_grades.

    \b
    Examples:
      gradelake grade dl19 --grader flan
      gradelake grade dl19 --grader flan --queries 19335,47923 --limit 1000
    """
    from grading import run as runs
    from grading.planner import Plan, ensure_views
    from grading.progress import Progress
    from grading.report import plan_as_object, print_plans, print_run, run_as_object
    from grading.work import Request

    project = project()
    with Lake.writer(project) as lake:
        grader = _grader(project, lake, name)
        request = Request(collection, grader, rubric_version, _query_ids(queries), limit)
        if dry_run:
            ensure_views(project, lake, console.warn)
            totals = Plan(lake, request).totals
    if dry_run:
        if as_json:
            console.print_json({"collection": collection, "plan": plan_as_object(grader, totals)})
        else:
            print_plans([(grader, totals)])
        return
    with Progress() as progress:
        run = runs.grade(project, request, progress.tell, progress, retry_failed)
    if as_json:
        console.print_json(run_as_object(request, run))
    else:
        print_run(request, run)
    sys.exit(run.exit_code)


def _grader(project, lake, name: str):
    """A grader of gradelake.toml; one that verifies is told whose answers."""
    from grading.grader import Grader

    source = project.graders.get(name, {}).get("answers_from")
    if source is None:
        return Grader.named(project, name)
    where = f"{project.file}: [graders.{name}] answers_from"
    if not isinstance(source, str):
        raise BadInput(f"{where}: {source!r} is no name", 'answers_from = "NAME"')
    if source in project.graders and source != name:
        extracting = Grader.named(project, source)
        if extracting.prompt.target != "extract":
            raise BadInput(
                f"{where}: {source!r} extracts no answers",
                "Name a grader whose prompt does, such as question_answer.",
            )
        return Grader.named(project, name, extracting.grader_id)
    known = dict(lake.rows("select name, arg_max(grader_id, created_at) from lake.raw.graders "
                           "where target = 'extract' group by name"))  # fmt: skip
    if source not in known:
        raise BadInput(
            f"{where}: no grader {source!r} extracts answers",
            did_you_mean(source, {*known, *_extracting(project)} - {name}),
        )
    return Grader.named(project, name, known[source])


def _extracting(project) -> set[str]:
    """Names of the graders of gradelake.toml that extract answers."""
    from grading.prompt import load_prompts

    prompts = load_prompts(project)
    targets = {
        name: prompts[table["prompt"]].target
        for name, table in project.graders.items()
        if isinstance(table.get("prompt"), str) and table["prompt"] in prompts
    }
    return {name for name, target in targets.items() if target == "extract"}


def _query_ids(queries: str | None) -> tuple[str, ...] | None:
    """Ids from the command line, or the first column of a file."""
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
