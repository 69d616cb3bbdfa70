"""Options that the commands of analyses share."""

from functools import wraps
from pathlib import Path

import click

from gradelake.sql.lake.lake import Lake

LABEL_SET = "As in relevance_labels: assessor:NAME, judge:NAME or GRADER/vN/POLICY."


def reading(command):
    """The options that say what is read: the command gets `read`, which opens the lake."""

    @click.argument("collection")
    @click.option("--release", help="Read a named release instead of the newest.")
    @click.option("--live", is_flag=True, help="Read the working catalog: the newest commit.")
    @wraps(command)
    @click.pass_obj
    def with_read(project, release, live, **others):
        return command(read=lambda: Lake.reading(project(), release, live), **others)

    return with_read


def replicated(what: str, default: int = 10_000):
    """The option of how many; `what` is its help."""
    return click.option(
        "--replicates", type=click.IntRange(min=1), default=default, show_default=True, help=what
    )


def at_alpha(what: str):
    """The option of the level of significance; `what` is its help."""
    kind = click.FloatRange(0, 1, True, True)
    return click.option("--alpha", type=kind, default=0.05, show_default=True, help=what)


def to_file(what: str, **attributes):
    """The option of which file a result goes to."""
    kind = click.Path(dir_okay=False, path_type=Path)
    return click.option("--output", "-o", metavar="FILE", type=kind, help=what, **attributes)


def to_output(what: str = "The file; - is standard output."):
    """The option of where a result goes, standard output by default."""
    return to_file(what, default="-", show_default=True)


def named(option: str, what: str, **attributes):
    """An option that takes a name; `what` is its help."""
    return click.option(option, metavar="NAME", help=what, **attributes)


def of_label_sets(what: str):
    """The option of which label sets, as often as one likes; the command gets `label_sets`."""
    return click.option("--label-set", "label_sets", multiple=True, metavar="NAME", help=what)


def of_measures(what: str, **attributes):
    """The option of which measures, as often as one likes; the command gets `measures`."""
    return click.option(
        "--measure", "measures", multiple=True, metavar="NAME", help=what, **attributes
    )


def of_levels(what: str):
    """The option of which relevance levels; the command gets `levels`."""
    return click.option("--level", "levels", multiple=True, type=int, metavar="N", help=what)


with_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
measured = named(
    "--measure", "As in the leaderboard: nDCG@10, AP, P@10, Cover@20, ...", required=True
)
with_reference = named(
    "--reference", "The label set to compare with (default: the collection's only assessor)."
)
seeded = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="The same seed gives the same figures.",
)
with_confidence = click.option(
    "--confidence",
    type=click.FloatRange(0, 1, True, True),
    default=0.95,
    show_default=True,
    help="Of the intervals.",
)


at_level = click.option(
    "--level",
    type=int,
    metavar="N",
    help="Label from which a passage is "
    "relevant. Default: the collection's min_relevant, or a label set's highest "
    "label where that is lower. nDCG does not depend on it.",
)
at_reference_level = click.option(
    "--reference-level",
    type=int,
    metavar="N",
    help="The same for the reference. Default: "
    "min_relevant for an assessor, else the level of what is compared with it.",
)
