"""What `gradelake generate` prints of what a model wrote."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradelake.grading.commands import warn_first
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted

if TYPE_CHECKING:
    from gradelake.grading.generate.asking import Generated
    from gradelake.grading.generate.writing import Written


@dataclass(frozen=True)
class Words:
    """How one kind of what is written is told of. `left` have no `lacks` NAME, all have `has`
    NAME, and those that failed got `nothing`."""

    lacks: str
    has: str
    nothing: str
    odd: "Callable[[Generated], list[str]]"
    wrote: "Callable[[Written], str]"
    next: str


def show(words: Words, outcome, is_dry: bool):
    """Print what became of it, or what a dry run found."""
    collection, name = outcome.request.collection, outcome.request.name
    asked = f"{outcome.asked_for:,} {outcome.noun}"
    left = outcome.asked_for - outcome.had
    if is_dry:
        now = f"; --limit takes {outcome.planned:,} of them" if outcome.planned < left else ""
        console.say(f"{collection}: {left:,} of {asked} have no {words.lacks} {name}{now}")
        return
    if not outcome.planned:
        console.say(f"{collection}: all {asked} have {words.has} {name}")
        return
    warn_first(
        [f"query {one.query_id}: {what}" for one in outcome.remarkable for what in words.odd(one)]
    )
    failed = outcome.failed.items()
    warn_first([f"query {query_id} got {words.nothing}: {why}" for query_id, why in failed])
    console.say(words.wrote(outcome))
    if failed:
        console.warn(
            f"{counted(len(failed), outcome.noun)} got {words.nothing}; "
            "the same command tries them again"
        )
    if outcome.out_of_money:
        console.warn("--max-cost leaves no money for the next one")
    if still := outcome.left + left - outcome.planned:
        console.warn(f"{counted(still, outcome.noun, 'are')} left; the same command continues")
    elif outcome.written:
        console.hint(f"next: {words.next} {collection}")


def _wrote(outcome) -> str:
    return (
        f"bank {outcome.request.name}: wrote {counted(outcome.n_items, 'items')} for "
        f"{counted(outcome.written, outcome.noun)} of "
        f"{outcome.request.collection} in {console.duration(outcome.seconds)}"
    )


def _odd(generated) -> list[str]:
    """What is worth a line about one query, or facet."""
    items, lines = generated.items, []
    if generated.tries > 1:
        lines.append(
            f"read at try {generated.tries}, at temperature {generated.decoding['temperature']:g}"
        )
    if items.duplicates:
        lines.append(f"{len(items.duplicates)} dropped as repeated: {items.duplicates[0]!r:.80}")
    if items.empty:
        lines.append(f"{items.empty} dropped as empty")
    if items.unusable:
        lines.append(f"{items.unusable} dropped for characters that no file of text may hold")
    if items.long_nuggets:
        n = len(items.long_nuggets)
        lines.append(
            f"{counted(n, 'nuggets')} of more words than allowed, kept: "
            f"{items.long_nuggets[0]!r:.80}"
        )
    if items.beyond:
        lines.append(f"{counted(items.beyond, 'items')} dropped: more than were asked for")
    if generated.cut_characters:
        lines.append(
            f"{generated.cut_characters:,} characters of its passages did not fit, and were cut"
        )
    return lines


OF_A_BANK = Words("items in the bank", "items in", "no items", _odd, _wrote, "gradelake plan")
