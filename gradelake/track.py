"""`gradelake export track`: what a track gives participants and the public, and a judge's card."""

from pathlib import Path
from typing import Any

import click

from gradelake.analyses.scores_export import LAYOUTS
from gradelake.analyses.stats import options
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, refuse_without
from gradelake.sql.common.counted import counted

_FORMS = ("markdown", "latex", "html", "json")  # of a card
_FEW = 3  # systems below which best, median and worst tell whose scores they are


def _show(done: dict[str, Any]) -> None:
    if "participants" in done:
        console.say(f"{done['folder']}: wrote {counted(len(done['participants']), 'folders')}")
        if done["n_systems"] < _FEW:
            what = counted(done["n_systems"], "systems")
            console.warn(f"note: of {what}, best, median and worst tell each other's scores")
    elif "written" in done:
        what = counted(len(done["written"]), "files")
        console.say(f"{done['folder']}: wrote {what}, none of the rubric")
    elif done["file"]:
        console.say(f"{done['file']}: wrote the card of {done['grader']}")


def _into_folder(option: str, what: str):
    return click.option(option, metavar="FOLDER", type=click.Path(path_type=Path), help=what)


@click.command("track", short_help="Write what a track gives participants and the public.")
@_into_folder("--participants", "A folder for each participant: their scores and flags.")
@options.named(
    "--by",
    "With --participants: a folder for each group of this grouping, or value in the metadata.",
)
@options.of_label_sets("With --participants: only this label set; may be repeated.")
@options.of_measures(
    "With --participants: only this measure; may be repeated. With --card: this one instead of "
    "nDCG@10."
)
@_into_folder("--public", "Boards, labels and a report, without the rubric.")
@click.option(
    "--layout",
    type=click.Choice(list(LAYOUTS)),
    default="ir_measures",
    help="With --public: whose names measures have.",
)
@click.option(
    "--anonymous",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --public: give systems other names; the CSV FILE keeps which is which.",
)
@options.named("--card", "What is known about this judge, on one page.")
@click.option(
    "--also",
    multiple=True,
    metavar="COLLECTION",
    help="With --card: what the judge did there, too; may be repeated.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMS),
    help=(
        "With --card. Default: by the ending of --output (.md, .tex, .html, .json), otherwise "
        "markdown."
    ),
)
@options.to_output("With --card: the file to write; - is standard output.")
@options.on_collection
@answering(_show)
@click.pass_obj
def export_track(project, read, collection, participants, public, card, **asked):
    """Write what a track on COLLECTION gives away: one of three.

    --participants: a new folder with a folder for each system, or for each team. It has the
    system's score of every topic beside the best, the median and the worst of all, and what was
    flagged in its answers; no other system is named. --by team_id makes a folder for each team, as
    metadata of answers call it, or a grouping of [collections.COLLECTION.groups].

    --public: a new folder with what can be shared while the rubric stays secret. Boards and their
    correlations as CSV, every label set as qrels, and the report: without items, answers and grids.
    --anonymous gives systems other names, the same every time, which FILE keeps and you keep to
    yourself; there is no report then.

    --card: what a judge is, what ran it, how far it agrees with people, what fools it, and what it
    costs. It also says what is not known, and what would tell.

    \b
    Examples:
      gradelake export track rag26 --participants to-participants
      gradelake export track rag26 --participants to-teams --by team_id
      gradelake export track dl19 --public dl19-public --anonymous names.csv
      gradelake export track dl19 --card judge:Sun --measure AP -o sun.tex
    """
    if sum(map(bool, (participants, public, card))) != 1:
        raise click.UsageError("Give one of --participants, --public and --card.")
    refuse_without("--participants", participants, "--by", "--label-set")
    refuse_without("--participants or --card", participants or card, "--measure")
    refuse_without("--public", public, "--layout", "--anonymous")
    refuse_without("--card", card, "--also", "--format", "--output")
    if card:
        return _card(read, collection, card, **asked)
    if participants:
        return _participants(project, read, collection, participants, **asked)
    return _public(project, read, collection, public, **asked)


def _participants(project, read, collection, folder, by, label_sets, measures, **_):
    from gradelake.participants import write_folders

    with console.working("reading the lake"), read() as lake, lake.one_state():
        return write_folders(project(), lake, collection, folder, by, label_sets, measures)


def _public(project, read, collection, folder, layout, anonymous, **_):
    from gradelake.analyses.public_export import export_public

    with console.working("reading the lake"), read() as lake:
        written = export_public(project(), lake, collection, folder, layout, anonymous)
    return {"collection": collection, "folder": str(folder), "written": written}


def _card(read, collection, grader, also, measures, form, output, **_):
    from gradelake.analyses.answers.asking import put
    from gradelake.analyses.card.card import read_card
    from gradelake.sql.shown.forms import ENDINGS, paged

    if len(measures) > 1:
        raise click.UsageError("A card has one --measure.")
    options.refuse_json_beside(output, "card")
    with console.working("reading the lake"), read() as lake:
        card = read_card(lake, grader, (collection, *also), *(measures or ["nDCG@10"]))
    told = ENDINGS.get(output.suffix)
    put(paged(card, form or (told if told in _FORMS else "markdown")), output)
    return card.as_object() | {"file": None if str(output) == "-" else str(output)}
