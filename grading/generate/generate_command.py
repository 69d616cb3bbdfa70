"""What `gradelake generate COLLECTION` does and prints: a rubric bank from a model."""

from typing import TYPE_CHECKING

from gradelake.grading.commands import warn_first
from gradelake.sql.common import console
from gradelake.sql.common.command_line import typed
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

if TYPE_CHECKING:
    from gradelake.grading.generate.generation import Plan


def show(outcome, is_dry: bool):
    """Print what became of a bank, or what a dry run found."""
    collection, bank = outcome.request.collection, outcome.request.bank
    if is_dry:
        left = outcome.asked_for - outcome.had_items
        now = f"; --limit takes {outcome.planned:,} of them" if outcome.planned < left else ""
        console.say(
            f"{collection}: {left:,} of {outcome.asked_for:,} {outcome.noun} have no items in "
            f"the bank {bank}{now}"
        )
        return
    if not outcome.planned:
        console.say(f"{collection}: all {outcome.asked_for:,} {outcome.noun} have items in {bank}")
        return
    odd = [f"query {one.query_id}: {what}" for one in outcome.remarkable for what in _odd(one)]
    warn_first(odd)
    failed = outcome.failed.items()
    warn_first([f"query {query_id} got no items: {why}" for query_id, why in failed])
    console.say(
        f"bank {bank}: wrote {counted(outcome.n_items, 'items')} for "
        f"{counted(outcome.written, outcome.noun)} of "
        f"{collection} in {console.duration(outcome.seconds)}"
    )
    if outcome.failed:
        console.warn(
            f"{counted(len(outcome.failed), outcome.noun)} got no items; "
            "the same command tries them again"
        )
    beyond = outcome.asked_for - outcome.had_items - outcome.planned
    if outcome.left or beyond:
        console.warn(
            f"{counted(outcome.left + beyond, outcome.noun, 'are')} left; "
            "the same command continues"
        )
    elif outcome.written:
        console.hint(f"next: gradelake plan {collection}")


def _odd(one) -> list[str]:
    """What is worth a line about one query, or facet."""
    items, lines = one.items, []
    if one.tries > 1:
        lines.append(f"read at try {one.tries}, at temperature {one.decoding['temperature']:g}")
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
    if one.cut_characters:
        lines.append(f"{one.cut_characters:,} characters of its passages did not fit, and were cut")
    return lines


def write_bank(
    project: Project,
    collection: str,
    name: str,
    query_ids: tuple[str, ...] | None,
    limit: int | None,
    dry_run: bool,
    *,
    method: str | None,
    label_set: str | None,
    level: int | None,
    bank: str | None,
) -> "Plan":
    """What `gradelake generate COLLECTION` does, with its options; a dry run plans it only."""
    from gradelake.grading.generate import generation
    from gradelake.grading.generate.generation_bank import GenerationRequest
    from gradelake.grading.graders.configured import writing

    grader = writing(project, name, "generate")
    request = GenerationRequest(
        collection, grader, bank or name, query_ids, limit, label_set, level
    )
    _check_method(request, method)
    if dry_run:
        with console.working("reading the lake"), Lake.live(project) as lake:
            return generation.plan(lake, request)
    return generation.generate(project, request, typed())


def _check_method(request, method):
    """Raise `BadInput` for what only a prompt that reads passages understands."""
    options = {"--method": method, "--label-set": request.label_set, "--level": request.level}
    stated = [option for option, value in options.items() if value is not None]
    if stated and not request.out_of_passages:
        raise BadInput(
            f"{stated[0]}: the prompt {request.grader.prompt.name!r} of {request.grader.name!r} "
            "reads no passages",
            'Give the grader a prompt that does: prompt = "nuggetizer_create"',
        )
