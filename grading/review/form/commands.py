"""Commands of reviewing without a server: export review, import reviews."""

import sys
from pathlib import Path

import click

from gradelake.grading.review.options import deal_for, which_grades
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering
from gradelake.sql.common.counted import counted
from gradelake.sql.lake.opening import Lake


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
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The HTML file to write.",
)
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

    project = project()
    with console.working("choosing grades"), Lake.writer(project) as lake:
        assignment, deck = deal_for(project, lake, collection, blind=True, **choice)
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
@click.argument("collection")
@click.argument("file", type=click.Path(path_type=Path))
@answering(_print_imported)
@click.pass_obj
def import_reviews(project, collection, file):
    """Store the answers in FILE, which a form of `gradelake export review` saved, as blind reviews.

    The file may come again, with more answers: what is known is left as it is, a newer review
    stays. Exit code 3 means that some answers are of texts or grades that have gone or changed;
    these are named and left out.

    \b
    Examples:
      gradelake import reviews dl19 dl19-flan-ann.json
    """
    from gradelake.grading.plan.planner import ensure_views
    from gradelake.grading.review.cards import VIEWS
    from gradelake.grading.review.form.form_import import import_reviews as run_import

    project = project()
    with console.working(f"reading {file}"), Lake.writer(project) as lake:
        return run_import(lake, collection, file, sys.argv[1:], lambda: ensure_views(lake, VIEWS))
