"""Options that the commands of analyses share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

import click

from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, reading, to_file, with_options
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput

LABEL_SET = "A label set: assessor:NAME, judge:NAME, hybrid:NAME or GRADER/vN/POLICY."
KINDS = ("graded", "linear", "quadratic", "binary", "collapsed", "boxed")  # of kappa


def answers(command):
    """Add `--json` to a command that returns a result, which shows itself by `show()`."""
    return answering(lambda result: result.show())(command)


def on_collection(command):
    """Add COLLECTION, and what `reading` adds; the command opens the lake with `read`."""
    return reading(click.argument("collection")(command))


@dataclass(frozen=True)
class WrittenExport:
    """What an export wrote: label set -> (its file, how many `what` are in it)."""

    collection: str
    what: str
    files: dict[str, tuple[Path, int]]
    about: dict[str, str] = field(default_factory=dict)

    def as_object(self) -> dict[str, Any]:
        written = [
            {"label_set": name, **self.about, "file": str(file), self.what: n}
            for name, (file, n) in self.files.items()
        ]
        return {"collection": self.collection, "written": written}

    def show(self) -> None:
        for name, (file, n) in self.files.items():
            console.say(f"{file}: wrote {counted(n, self.what)} of {name}")


def refuse_json_beside(output: Any, what: str) -> None:
    """Raise `BadInput` where `--json` and what is written would share standard output."""
    if str(output) == "-" and click.get_current_context().params["as_json"]:
        raise BadInput(
            f"--json and the {what} would both go to standard output", "Add --output FILE."
        )


def replicated(what: str, default: int = 10_000):
    """The options of how many, whose help is `what`, and of their seed."""
    kind = click.IntRange(min=1)
    return with_options(click.option("--replicates", type=kind, default=default, help=what), seeded)


def at_alpha(what: str):
    """The option of the level of significance; `what` is its help."""
    kind = click.FloatRange(0, 1, True, True)
    return click.option("--alpha", type=kind, default=0.05, help=what)


def to_output(what: str = "The file to write; - is standard output."):
    """The option of where a result goes, standard output by default."""
    return to_file(what, default="-")


def named(option: str, what: str, **attributes):
    """An option that takes a name; `what` is its help."""
    return click.option(option, metavar="NAME", help=what, **attributes)


def numbered(option: str, what: str, kind: Any = int, **attributes):
    """An option that takes a whole number; `what` is its help."""
    return click.option(option, type=kind, metavar="N", help=what, **attributes)


def of_label_sets(what: str):
    """The option of which label sets, as often as one likes; the command gets `label_sets`."""
    return click.option("--label-set", "label_sets", multiple=True, metavar="NAME", help=what)


def of_kinds(what: str, kinds: Sequence[str] = KINDS):
    """The option of which kinds of kappa, as often as one likes; the command gets `kinds`."""
    return click.option("--kind", "kinds", multiple=True, type=click.Choice(kinds), help=what)


def of_measures(what: str, **attributes):
    """The option of which measures, as often as one likes; the command gets `measures`."""
    return click.option(
        "--measure", "measures", multiple=True, metavar="NAME", help=what, **attributes
    )


def of_levels(what: str):
    """The option of which relevance levels; the command gets `levels`."""
    return click.option("--level", "levels", multiple=True, type=int, metavar="N", help=what)


def with_official_ranks(command):
    """Add `--leaderboard`, which official ranks, and `--reference`, whose board instead."""

    @named("--leaderboard", "Compare with these official ranks. Default: the only ones there are.")
    @named("--reference", "Compare with this label set's leaderboard instead.")
    @wraps(command)
    def one_of_them(*arguments, leaderboard, reference, **asked):
        if leaderboard and reference:
            raise BadInput("--leaderboard and --reference cannot be used together")
        return command(*arguments, leaderboard=leaderboard, reference=reference, **asked)

    return one_of_them


measured = named(
    "--measure", "A measure of the leaderboard: nDCG@10, AP, P@10, Cover@20, ...", required=True
)
with_reference = named(
    "--reference", "The label set to compare with (default: the collection's only assessor)."
)
seeded = click.option(
    "--seed", type=click.IntRange(min=0), default=1, help="The same seed gives the same figures."
)
with_confidence = click.option(
    "--confidence",
    type=click.FloatRange(0, 1, True, True),
    default=0.95,
    help="How sure the intervals are.",
)
at_level = numbered(
    "--level",
    "The label from which a passage counts as relevant. Default: 4 for a rubric's labels, since a "
    "grade of 4 is an answer; for others the collection's min_relevant; or a label set's highest "
    "label, if that is lower. nDCG does not depend on it.",
)
in_segment = named(
    "--segment", "Only queries of this segment, as the collection names it: tail, language=de, ..."
)
at_reference_level = numbered(
    "--reference-level",
    "The same for the reference. Default: min_relevant for an assessor, otherwise the level of "
    "what is compared with it.",
)
