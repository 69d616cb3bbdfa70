"""`gradelake review`: grades, one at a time, in the terminal."""

import sys

import click

from gradelake.grading.review.options import deal_for, which_grades
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, typed
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import shown


def _print(made):
    skipped = f", {made['skipped_now']:,} skipped" if made["skipped_now"] else ""
    agreed, disagreed = made["agreed_now"], made["disagreed_now"]
    console.say(
        f"reviewed {agreed + disagreed:,} now: {agreed:,} agreed with, {disagreed:,} not{skipped}; "
        f"{made['not_reviewed']:,} left"
    )
    now, blind = made["agreement"], made["agreement_blind"]
    if now is None:
        return
    console.say(
        f"{made['assessor']} on {made['grader']}, {made['collection']}: "
        f"{now['n_reviewed']:,} reviewed, {now['n_agreed']:,} agreed with "
        f"({shown('percent', now['share_agreed'])})"
    )
    if blind:
        _print_agreement(made["tau"], blind, ", before the grader's was shown")
    _print_agreement(made["tau"], now, ", after the grader's was shown" if blind else "")


def _print_agreement(tau, found, when):
    figures = [
        f"{name} {shown('kappa', found[name])}"
        for name in ("kappa", "precision", "recall")
        if found[name] is not None
    ]
    if found["kappa"] is None:
        figures.insert(0, "kappa undefined (one of two answers only)")
    console.say(
        f"answered from grade {tau} on, over {found['n_graded']:,} with a grade of both"
        f"{when}: {', '.join(figures)}"
    )


@click.command(short_help="Look at grades one at a time, and say whether they are right.")
@click.argument("collection")
@which_grades
@click.option(
    "--blind",
    is_flag=True,
    help="Give your grade before you see the grader's; then you may change it.",
)
@click.option(
    "--open", "shows_grade", is_flag=True, help="With --queue: see the grader's grade at once."
)
@click.option(
    "--settle",
    "settles",
    is_flag=True,
    help="With --queue: say what is right where the others differ.",
)
@click.option(
    "--again", is_flag=True, help="Also show what the assessor has reviewed, to revise it."
)
@answering(_print, "Print the summary as one JSON object; cards go to standard error.")
@click.pass_context
def review(context, collection, queue, shows_grade, **choice):
    """Look at grades of a COLLECTION's rubric items one at a time, and say whether they are right.

    Keys: a agree, d disagree (then the grade you would give, or Enter), s skip, n note, u undo, q
    quit. With --blind you type your grade, and the grader's is shown after. Each answer is in the
    lake at once, and the same command continues where it stopped. No grade is changed. High grades
    come more often than low ones. Without a terminal, each line of standard input is a key, or the
    text of a note. The cards of a queue are reviewed blind, unless --open is given.

    \b
    Examples:
      gradelake review dl19 --grader flan --assessor ann
      gradelake review dl19 --grader flan --assessor ann --sample 50 --seed 7
      gradelake review dl19 --grader flan --assessor bob --sample 50 --blind
      gradelake review dl19 --grader flan --assessor ann --item 79d1ecce \\
          --only-answered
      gradelake review dl19 --queue first --assessor ann
      gradelake review dl19 --queue first --assessor dora --settle
    """
    from gradelake.grading.review.guidelines import guidelines_of
    from gradelake.grading.review.keys import Lines, Terminal
    from gradelake.grading.review.screen import Screen
    from gradelake.grading.review.session import Session
    from gradelake.grading.review.verdicts import Verdicts

    if choice["blind"] and choice["again"]:
        raise click.UsageError("--again shows grades that you have seen: leave out --blind.")
    if choice["blind"] and shows_grade:
        raise click.UsageError("--blind and --open cannot be used together.")
    if not queue and (shows_grade or choice["settles"]):
        raise click.UsageError("--open and --settle are about a queue: name it with --queue.")
    seen = shows_grade or choice["settles"] or choice["again"]
    choice["blind"] = choice["blind"] or bool(queue and not seen)
    with Lake.writer(context.obj()) as lake:
        with console.working("choosing grades"):
            assignment, deck = deal_for(lake, collection, queue=queue, **choice)
        screen = Screen(assignment.grader, assignment.assessor, to_stderr=context.params["as_json"])
        at_terminal = sys.stdin.isatty()
        keys = Terminal(screen.write) if at_terminal else Lines(sys.stdin, screen.write)
        verdicts = Verdicts(lake, assignment)
        session = Session(deck, verdicts, keys, screen)
        if deck.cards and (guidelines := guidelines_of(lake.project, collection)):
            screen.write(f"Guidelines\n\n{guidelines}\n")
        try:
            session.run()
        finally:
            verdicts.close(typed(), len(session.reviews) - session.count(None))
        return session.summary()
