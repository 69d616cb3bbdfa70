"""Commands of reviewing, here or in a browser without a server: review, export review, import
reviews."""

import sys

import click

from gradelake.grading.review.options import deal_for, which_grades
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, bringing_in, refuse_without, to_file, typed
from gradelake.sql.common.counted import counted
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
    "--open", "shows_grade", is_flag=True, help="Of a queue: see the grader's grade at once."
)
@click.option(
    "--settle",
    "settles",
    is_flag=True,
    help="Of a queue: say what is right where the others differ.",
)
@click.option("--again", is_flag=True, help="Also what the assessor has reviewed, to revise it.")
@answering(_print, "Print the summary as one JSON object; cards go to standard error.")
@click.pass_context
def review(context, collection, queue, shows_grade, **choice):
    """Look at grades of a COLLECTION's rubric items one at a time, and say whether they are right.

    Keys: a agree, d disagree (then the grade you would give, or Enter), s skip, n note, u undo,
    q quit. With --blind you type your grade, and the grader's is shown after. Each answer is in
    the lake at once, and the same command continues where it stopped. No grade is changed. High
    grades come more often than low ones. Without a terminal, each line of standard input is a key,
    or the text of a note. The cards of a queue are reviewed blind, unless with --open.

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


# --- without a server -----------------------------------------------------------------------------


def _print_exported(made):
    console.say(
        f"{made['file']}: {counted(made['cards'], 'cards')} of {made['grader']} for "
        f"{made['assessor']}, {console.size(made['bytes'])}"
    )
    if made["cards"] < made["of"]:
        console.warn(f"note: the first of {made['of']:,}; once they are in, export the rest")
    console.hint(f"next: gradelake import reviews {made['collection']} FILE")


def _print_imported(done):
    for note in done.notes():
        console.warn(f"note: {note}")
    if done.snapshot is None:
        console.say(f"{done.file}: nothing new of {counted(done.answers, 'answers')}")
        return
    revised = f", {done.revised:,} in place of older ones" if done.revised else ""
    known = f"; {done.known:,} known already" if done.known else ""
    console.say(
        f"{done.assessor} on {done.grader}, {done.collection}: "
        f"wrote {counted(done.written, 'reviews')}{revised}{known}"
    )


@click.command("review", short_help="Write grades to review, as one HTML file for a browser.")
@click.argument("collection")
@which_grades
@to_file("The HTML file to write.", required=True)
@answering(_print_exported)
@click.pass_obj
def export_review(project, collection, output, **choice):
    """Write grades of a COLLECTION's rubric items as one HTML file, to be reviewed blind.

    The file needs nothing but a browser: no network, nothing to install. It holds no grade. Answers
    are kept in the browser at once; its button saves them to a file for `gradelake import reviews`.

    \b
    Examples:
      gradelake export review dl19 --grader flan --assessor ann -o ann.html
      gradelake export review dl19 --grader flan --assessor ann --sample 50 \\
          --seed 7 -o ann.html
      gradelake export review dl19 --queue first --assessor ann -o ann.html
    """
    from gradelake.grading.review.form.form_export import make_form
    from gradelake.sql.common.whole_file import whole_file

    refuse_without("--only-answered", choice["only_answered"], "--tau")
    with console.working("choosing grades"), Lake.writer(project()) as lake:
        assignment, deck = deal_for(lake, collection, blind=True, **choice)
        page, n_cards = make_form(lake, assignment, deck)
    data = page.encode()
    with whole_file(output) as stream:
        stream.write(data)
    return {
        "collection": collection,
        "grader": assignment.grader.name,
        "assessor": assignment.assessor,
        "file": str(output),
        "cards": n_cards,
        "of": deck.n_cards,
        "bytes": len(data),
    }


@click.command("reviews", short_help="Store the answers that an assessor saved from a form.")
@bringing_in("grading.review.form.form_import:import_reviews", show=_print_imported)
def import_reviews():
    """Store the answers in FILE, which a form of `gradelake export review` saved, as blind reviews.

    The file may come again, with more answers: what is known is left as it is, a newer review
    stays. Exit code 3 means that some answers are of texts or grades that have gone or changed;
    these are named and left out.

    \b
    Examples:
      gradelake import reviews dl19 dl19-flan-ann.json
    """
