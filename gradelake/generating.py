"""`gradelake generate`: a rubric bank, or a system of answers, from a model."""

from typing import Any

import click

from gradelake.grading.commands import ASKS_NOTHING, chosen_queries
from gradelake.grading.generate.generate_command import OF_A_BANK, Words, show
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, refuse_beside, typed
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.units import amount

_ANSWERS = "answers"


def _show(outcome):
    words = OF_A_BANK if outcome.request.kind == "bank" else _OF_ANSWERS
    show(words, outcome, click.get_current_context().params["dry_run"])


def _wrote(outcome) -> str:
    cost = f", for {amount(outcome.cost)} {outcome.currency}" if outcome.cost is not None else ""
    return (
        f"system {outcome.request.name}: wrote {counted(outcome.written, 'answers')} to queries of "
        f"{outcome.request.collection} in {console.duration(outcome.seconds)}, "
        f"of {counted(outcome.tokens, 'tokens')}{cost}"
    )


_OF_ANSWERS = Words(
    "answer of",
    "an answer of",
    "no answer",
    lambda one: [f"written at try {one.tries}"],
    _wrote,
    "gradelake build, or gradelake plan",
)


@click.command(short_help="Let a model write questions, nuggets, criteria, or answers.")
@click.argument("names", nargs=-1, required=True, metavar="[answers] COLLECTION")
@click.option(
    "--grader",
    "name",
    required=True,
    help="A grader of gradelake.toml whose prompt generates items, or answers.",
)
@click.option(
    "--method",
    type=click.Choice(["nuggetizer"]),
    help="Make nuggets out of relevant passages, or refuse a grader whose prompt does not.",
)
@click.option(
    "--label-set",
    help="Take the passages that this label set labels relevant; default: people's judgments.",
)
@click.option(
    "--level",
    type=int,
    help="Label from which a passage is taken. Default: the collection's min_relevant, or a label "
    "set's highest label below it.",
)
@click.option("--bank", help="Name of the bank; default: the grader's.")
@click.option("--system", help="With answers: name of the system; default: the grader's.")
@click.option("--queries", help="Only these queries: ids separated by commas, or a file of ids.")
@click.option("--limit", type=click.IntRange(min=1), help="How many queries, or facets, at most.")
@click.option(
    "--max-cost",
    type=click.FloatRange(min=0, min_open=True),
    help="With answers: spend no more than this, by the prices of seeds/prices.csv.",
)
@click.option("--dry-run", is_flag=True, help="Say how many are left; ask nothing.")
@answering(_show)
@click.pass_obj
def generate(project, names, name, queries, limit, dry_run, **options):
    """Let a model write questions, nuggets or criteria for the queries of a COLLECTION, or answers.

    A prompt with {passages} (nuggetizer_create) makes nuggets out of the relevant passages of each
    query, and says which are vital; generate_criteria adds to the criteria that nuggets become. A
    prompt with a {subtopic} is asked about each facet by itself. `generate answers COLLECTION`
    writes a system: an answer to each query, with answer_encyclopedia, answer_webpage,
    answer_question or a prompt of your own. Queries (or facets) that have items in the bank, or an
    answer of the system, are left alone: the same command continues what was stopped or killed.
    Exit code 3: some got none.

    \b
    Examples:
      gradelake generate dl19 --grader writer --dry-run
      gradelake generate dl19 --grader writer --bank questions2 --limit 5
      gradelake generate rag24 --grader nuggetizer --method nuggetizer --level 2
      gradelake generate answers dl19 --grader gpt_wiki --max-cost 5
    """
    project = project()
    of_answers, collection = _what(names)
    of_answers_only = {"system", "max_cost"}
    others = options.keys() - of_answers_only if of_answers else of_answers_only
    if stated := sorted(key for key in others if options[key] is not None):
        beside = "`generate answers`" if of_answers else "rubric items"
        raise BadInput(f"--{stated[0].replace('_', '-')} is not for {beside}", "Leave it out.")
    if dry_run:
        refuse_beside("--dry-run", {"--max-cost": ASKS_NOTHING})
    taken = {key: options[key] for key in options if key not in others}
    taken |= {"collection": collection, "query_ids": chosen_queries(queries), "limit": limit}
    generation = _module(of_answers)
    request = generation.request_of(project, name, **taken)
    if dry_run:
        with console.working("reading the lake"), Lake.live(project) as lake:
            return generation.plan(lake, request)
    return generation.generate(project, request, typed())


def _module(of_answers: bool) -> Any:
    """What plans and writes either of them."""
    if of_answers:
        from gradelake import generated_answers

        return generated_answers
    from gradelake.grading.generate import generation

    return generation


def _what(names: tuple[str, ...]) -> tuple[bool, str]:
    """Whether answers are asked for, and the collection. One collection may be called `answers`."""
    match names:
        case [collection]:
            return False, collection
        case [what, collection] if what == _ANSWERS:
            return True, collection
    raise BadInput(
        f"generate: {' '.join(names)}: name one collection",
        "gradelake generate COLLECTION --grader NAME, or gradelake generate answers COLLECTION ...",
    )
