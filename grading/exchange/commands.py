"""Commands that exchange grades with others: import grades, export grades."""

from typing import Any

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import (
    answering,
    bringing_in,
    reading,
    refuse_beside,
    to_file,
)
from gradelake.sql.common.counted import counted


def _show_import(done) -> None:
    if done.snapshot is None:
        console.say(f"{done.file}: unchanged, nothing to do")
        return
    for note in done.notes():
        console.warn(f"note: {note}")
    columns = ("target", "grades", "ok", "unanswerable", "defaulted", "failed")
    rows = [
        (grader["name"], *(grader.get(column, 0) for column in columns)) for grader in done.graders
    ]
    console.print_table(("grader", *columns), rows)
    what = ", ".join(counted(n, kind.replace("_", " ")) for kind, n in done.counts.items())
    console.say(f"{done.collection}: wrote {what or 'nothing that was not there'}")


def _show_export(result: dict[str, Any]) -> None:
    counts = dict(result["written"])
    n_cut = counts.pop("rankings_left_out", 0)
    what = ", ".join(counted(n, kind.replace("_", " ")) for kind, n in counts.items() if n)
    console.say(f"wrote {result['file']}: {what}")
    if n_cut:
        depth = click.get_current_context().params["depth"]
        console.warn(f"left out: {counted(n_cut, 'places')} in rankings below depth {depth}")


@click.command("grades", short_help="Store a FILE of grades that others made.")
@bringing_in(
    "grading.exchange.grades_import:import_chosen",
    click.option(
        "--rater",
        type=click.Choice(["published", "paper", "both"]),
        default="published",
        help="Take the file's ratings, read its replies anew by the "
        "papers' rule, or keep both as graders side by side.",
    ),
    click.option(
        "--assessor", metavar="NAME", help="Take the file's judgments in, as this assessor's."
    ),
    click.option("--systems", is_flag=True, help="Take the file's rankings in, as systems."),
    click.option(
        "--name",
        metavar="PREFIX",
        help="First part of the graders' names; keeps them "
        "apart from others of the same model and prompt, and from graders that a lake ran.",
    ),
    click.option(
        "--trust",
        is_flag=True,
        help=(
            "The file is an export of one of your lakes: grades that it says a lake's grader gave "
            "count as that grader's."
        ),
    ),
    click.option(
        "--grader",
        metavar="NAME",
        help=(
            "For assignments of nuggets: who assigned them. For grades per criterion: one grader, "
            "whose rubric is the criteria; with --name, each criterion is a judge of its own."
        ),
    ),
    click.option("--model", metavar="NAME", help="The model that did it, for the record."),
    click.option(
        "--kind",
        type=click.Choice(["question", "nugget"]),
        help="With --grader: what the criteria are as rubric items (default: question).",
    ),
    click.option(
        "--scale",
        metavar="LEAST-GREATEST",
        help="With --grader: the scale of its grades (default: 0-3).",
    ),
    click.option(
        "--format",
        type=click.Choice(["workbench", "criteria", "assignments"]),
        help="The file's format (default: seen from the file).",
    ),
    show=_show_import,
)
def import_grades():
    """Store the grades of FILE: the RUBRIC workbench's graded JSONL, grades per criterion, or what
    `nuggetizer assign` writes.

    A file that changed, or is imported with another choice, replaces what it brought. Exit code 3
    means that the file has queries that are not in the lake.

    \b
    Examples:
      gradelake import grades dl19 dl19-graded.jsonl.gz --rater both
      gradelake import grades dl19 criteria.json.gz --grader llama
      gradelake import grades dl19 criteria.json.gz --name llama
      gradelake import grades rag24 run.assign.jsonl --grader gpt4o

    The second takes grades per criterion as one grader's, whose rubric is the criteria; the third
    as those of a judge for each criterion. The last takes which nuggets of the rubric the answers
    hold.
    """


@click.group(short_help="Write what others read: grades, qrels, banks, a track's files.")
def export():
    """Write what others can read: grades, labels and samples to judge, scores, rubric banks, the
    workbench's files, and what a track gives participants and the public.

    \b
    Examples:
      gradelake export qrels dl19 --label-set judge:Sun --output sun.qrels
      gradelake export grades dl19 --output dl19-graded.jsonl.gz
    """


@export.command("grades", short_help="Write a COLLECTION's grades as the workbench's JSONL.")
@click.argument("collection")
@to_file("The file; zipped when its name ends in .gz.", required=True)
@click.option(
    "--grader",
    "graders",
    multiple=True,
    metavar="NAME",
    help=(
        "A grader's name or id; may be repeated (default: all). With --format assignments: who "
        "assigned."
    ),
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["workbench", "assignments"]),
    default="workbench",
    help="assignments: which nuggets each answer holds, as `nuggetizer assign` writes them.",
)
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    metavar="K",
    help="Cut each ranking below its first K passages, and say how much that leaves out.",
)
@reading
@answering(_show_export)
def export_grades(read, collection, output, graders, form, depth):
    """Write a COLLECTION's grades, judgments and whole rankings as the RUBRIC workbench's graded
    JSONL; or, of one grader, which nuggets each answer holds: a line for each answer, on the newest
    version of the rubric.

    Reads the newest release. `gradelake import grades` takes the file back as it was.

    \b
    Examples:
      gradelake export grades dl19 --output dl19-graded.jsonl.gz --grader flan
      gradelake export grades rag --grader assigns --format assignments \\
          --output rag.assignments.jsonl
    """
    from gradelake.grading.exchange.assignments import export_assignments
    from gradelake.grading.exchange.grades_export import export_grades as run_export

    if form == "assignments":
        refuse_beside("--format assignments", {"--depth": "has no rankings"})
        if len(graders) != 1:
            raise click.UsageError("Name one grader (--grader) whose assignments you want.")
    with console.working("reading the lake"), read() as lake:
        if form == "assignments":
            counts = {"answers": export_assignments(lake, collection, graders[0], output)}
        else:
            counts = run_export(lake, collection, output, graders, depth)
    return {"collection": collection, "file": str(output), "written": counts}
