"""Options of all commands that choose grades for an assessor to review."""

from collections.abc import Callable

import click

_OPTIONS = (
    click.option("--grader", "grader_name", required=True, metavar="NAME", help="Whose grades."),
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


def which_grades(command: Callable) -> Callable:
    """Adds grader_name, assessor and tau, and what `Wish` calls query_id, item_id and so on."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
