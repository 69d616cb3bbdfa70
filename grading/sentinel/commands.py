"""`gradelake sentinel`."""

import sys
import time

import click

from gradelake.grading.commands import limit_options
from gradelake.sql.common import console
from gradelake.sql.common.counted import amount
from gradelake.sql.common.errors import BadInput, GradelakeError


@click.command(short_help="Grade sentinels anew where a round is due: do judges change?")
@click.argument("sentinels", nargs=-1, metavar="[NAME]...")
@click.option("--now", is_flag=True, help="Begin a round though none is due yet.")
@click.option("--limit", type=click.IntRange(min=1), help="How many pairs at most.")
@limit_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def sentinel(project, sentinels, now, limit, max_minutes, max_cost, as_json):
    """Grade sentinels of gradelake.toml anew, each by its graders, where a round is due.

    A sentinel is a fixed set of pairs that people judged. Its grades are kept apart: after
    `gradelake build`, `gradelake sql @drift` says whether a judge still judges as it did.
    Stop it at any moment, or kill it: the same command goes on with the round.

    \b
    Exit codes: 0 done, 3 some pairs failed, 1 a grader failed, 130 stopped.

    \b
    Examples:
      gradelake sentinel
      gradelake sentinel daily --now
      gradelake sentinel daily --max-cost 2
    """
    from gradelake.grading.run.progress import Progress
    from gradelake.grading.sentinel.rounds import Limits, grade_round, prepare
    from gradelake.grading.sentinel.sentinel import read_sentinel

    project = project()
    names = sentinels or tuple(project.sentinels)
    if not names:
        raise BadInput(
            f"{project.file}: there are no sentinels",
            'Describe one: [sentinels.NAME] collection = "...", graders = ["..."]',
        )
    chosen = {name: read_sentinel(project, name) for name in names}
    deadline = max_minutes and time.monotonic() + 60 * max_minutes
    rounds: list[dict] = []
    failed: list[dict] = []
    for name, settings in chosen.items():
        if any(each["stopped"] for each in rounds):
            break
        for grader in prepare(project, name, settings, console.tell):
            pairs = sum(each["pairs"] for each in rounds)
            cost = sum(each["cost"] or 0.0 for each in rounds)
            limits = Limits(
                None if limit is None else max(0, limit - pairs),
                None if deadline is None else deadline - time.monotonic(),
                None if max_cost is None else max_cost - cost,
            )
            about = {"sentinel": name, "collection": settings.collection}
            try:
                with Progress() as progress:
                    done = grade_round(
                        project, name, settings, grader, console.tell, progress, now, limits
                    )
            except GradelakeError as error:
                console.warn(f"error: {grader.name}: {error}")
                failed.append(about | {"grader": grader.name, "reason": str(error)})
                continue
            rounds.append(about | done)
            if done["stopped"]:
                break
    if as_json:
        counts = {what: sum(each[what] for each in rounds) for what in ("pairs", "failed", "left")}
        console.print_json(counts | {"rounds": rounds, "failed_graders": failed})
    else:
        _show(rounds)
    if any(each["stopped"] for each in rounds):
        sys.exit(130)
    sys.exit(1 if failed else 3 if any(each["failed"] for each in rounds) else 0)


def _show(rounds: list[dict]) -> None:
    columns = ["sentinel", "collection", "grader", "round", "pairs", "failed", "left"]
    rows = [[each[column] for column in columns] for each in rounds]
    if any(each["cost"] for each in rounds):
        columns.append("cost")
        for row, each in zip(rows, rounds, strict=True):
            cost, currency = each["cost"], each["currency"] or ""
            row.append("no price" if cost is None else f"{amount(cost)} {currency}".rstrip())
    console.print_table(columns, rows)
    for each in rounds:
        for note in each["notes"]:
            console.warn(f"note: {note}")
    due = [each for each in rounds if each["due_on"]]
    if due:
        console.say(f"the next round is due on {min(each['due_on'] for each in due)} (UTC)")
    if any(each["left"] for each in rounds):
        console.warn("the same command goes on with what is left")
    elif any(each["pairs"] for each in rounds):
        console.hint("next: `gradelake build`, then `gradelake sql @drift`")
