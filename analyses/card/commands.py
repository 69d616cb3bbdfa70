"""The command that writes a judge's card: export card."""

from typing import Any

import click

from gradelake.analyses.answers.asking import put
from gradelake.analyses.stats import options
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, reading

_FORMS = ("markdown", "latex", "html", "json")


def _show(done: dict[str, Any]) -> None:
    if done["file"]:
        console.say(f"{done['file']}: wrote the card of {done['grader']}")


@click.command("card", short_help="Write what is known of a judge, as one page.")
@click.argument("grader")
@click.option(
    "--collection",
    "collections",
    multiple=True,
    metavar="NAME",
    help="What it did there; repeat it for more. Default: wherever it has labels.",
)
@options.named(
    "--measure", "Of correlations, errors and bias: as in the leaderboard.", default="nDCG@10"
)
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMS),
    help="Default: what the ending of --output says (.md, .tex, .html, .json), else markdown.",
)
@options.to_output()
@reading
@answering(_show)
def export_card(read, grader, collections, measure, form, output):
    """Write the card of GRADER: what it is, what ran it, how far it agrees with people, what fools
    it, and what it costs. What is not known is said, with what would tell.

    \b
    Examples:
      gradelake export card flan
      gradelake export card judge:Sun --collection dl19 --measure AP -o sun.tex
    """
    from gradelake.analyses.card.card import read_card
    from gradelake.sql.shown.forms import ENDINGS, paged

    options.refuse_json_beside(output, "card")
    with console.working("reading the lake"), read() as lake:
        card = read_card(lake, grader, collections, measure)
    told = ENDINGS.get(output.suffix)
    put(paged(card, form or (told if told in _FORMS else "markdown")), output)
    return card.as_object() | {"file": None if str(output) == "-" else str(output)}
