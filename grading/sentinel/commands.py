"""`gradelake sentinel`."""

import click

from gradelake.grading.commands import round_options
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering
from gradelake.sql.shown.units import amount


def show_rounds(result, what="sentinel", question="@drift"):
    """Print what came of each round of `what`, and which question tells of it."""
    rounds = result.rounds
    columns = [what, "collection", "grader", "round", "pairs", "failed", "left"]
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
        console.hint(f"next: `gradelake build`, then `gradelake sql {question}`")


@click.command(short_help="Grade sentinels anew where a round is due: do judges change?")
@click.argument("sentinels", nargs=-1, metavar="[NAME]...")
@click.option("--now", is_flag=True, help="Begin a round even if none is due yet.")
@round_options
@answering(show_rounds)
@click.pass_obj
def sentinel(project, sentinels, **stated):
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
    from gradelake.grading.sentinel.rounds import watch

    return watch(project(), sentinels, **stated)
