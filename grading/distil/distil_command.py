"""`gradelake distil`: rubrics of labels from judged pairs, and what they say."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradelake.grading.command_text import warn_first
from gradelake.grading.commands import chosen_queries
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.lake import Lake

if TYPE_CHECKING:
    from gradelake.grading.distil.distil import Outcome
    from gradelake.grading.distil.distil_store import DistilRequest
    from gradelake.grading.prompts.judged_pairs import Sample


@click.command(short_help="Let a model explain judgments, and make a rubric of each label.")
@click.argument("collection", required=False)
@click.option("--assessor", help="Whose judgments are explained.")
@click.option(
    "--grader", "grader_name", help="A grader of gradelake.toml whose prompt explains labels."
)
@click.option("--name", help="What the rubric is called; a name in use gets a new version.")
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    help="How much of the judged pairs to draw.",
)
@click.option(
    "--per-label", type=click.IntRange(min=1), help="Pairs per label, instead of a share."
)
@click.option(
    "--iterations",
    type=click.IntRange(1, 20),
    default=3,
    show_default=True,
    help="In how many steps explanations become a rubric.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=1,
    show_default=True,
    help="The same seed draws the same pairs.",
)
@click.option("--queries", help="Only pairs of these: ids with commas between, or a file of them.")
@click.option(
    "--distil-prompt",
    default="true_distil",
    show_default=True,
    help="The prompt that makes a rubric of explanations.",
)
@click.option("--dry-run", is_flag=True, help="Say how many pairs are drawn; ask nothing.")
@click.option("--show", metavar="NAME", help="Print a rubric: NAME, or NAME@ID.")
@click.option(
    "--export", nargs=2, metavar="NAME FILE", help="Write a rubric into a new file, to be edited."
)
@click.option(
    "--import",
    "edited",
    nargs=2,
    metavar="NAME FILE",
    help="Store an edited file as a new version.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def distil(
    project,
    collection,
    assessor,
    grader_name,
    name,
    queries,
    distil_prompt,
    dry_run,
    show,
    export,
    edited,
    as_json,
    **options,
):
    """Let a model explain judgments of a COLLECTION, and distil a rubric for each label.

    Graders with the prompts true_direct and true_reasoning judge by such a rubric. Exit code 3
    means that some pairs could not be explained; stopped or killed, the same command continues with
    the explanations that it has.

    \b
    Examples:
      gradelake distil dl19 --assessor nist --grader explainer --name trec \\
          --dry-run
      gradelake distil dl19 --assessor nist --grader explainer --name trec
      gradelake distil --show trec
      gradelake distil --export trec trec.yaml
      gradelake distil --import trec trec.yaml
    """
    project = project()
    if show or export or edited:
        if show:
            _show(project, show, as_json)
        if export:
            stated, file = export
            _export(project, stated, file, as_json)
        if edited:
            stated, file = edited
            _import(project, stated, file, as_json)
        return
    from gradelake.grading.distil import distil as distilling
    from gradelake.grading.distil.distil_store import DistilRequest
    from gradelake.grading.graders.configured import explaining
    from gradelake.grading.prompts.prompt_file import find_prompt

    stated = {
        "COLLECTION": collection,
        "--assessor": assessor,
        "--grader": grader_name,
        "--name": name,
    }
    if missing := [option for option, value in stated.items() if value is None]:
        raise BadInput(
            f"also needed: {', '.join(missing)}",
            "Or --show NAME, to print a rubric; --export and --import, to edit it.",
        )
    prompt = find_prompt(project, distil_prompt)
    if prompt.target != "distil":
        raise BadInput(
            f"--distil-prompt: {distil_prompt!r} distils no rubrics",
            "Take true_distil, or a prompt of your own with target distil.",
        )
    request = DistilRequest(
        collection,
        assessor,
        explaining(project, grader_name),
        name,
        prompt,
        query_ids=chosen_queries(queries),
        **options,
    )
    if dry_run:
        with Lake.writer(project) as lake:
            _print_plan(request, distilling.draw(lake, request), as_json)
        return
    outcome = distilling.distil(
        project,
        request,
        sys.argv[1:],
        console.warn,
        console.now_and_then(partial(_progress, request)),
    )
    if as_json:
        console.print_json(as_object(request, outcome))
    else:
        print_outcome(request, outcome)
    sys.exit(outcome.exit_code)


def _progress(request: "DistilRequest", outcome: "Outcome") -> str:
    n = outcome.explained + outcome.kept
    failed = f", {len(outcome.failed):,} failed" if outcome.failed else ""
    return (
        f"{n:,} of {len(outcome.sample.pairs):,} pairs explained{failed}; "
        f"{outcome.iterations} of {request.iterations} iterations"
    )


def _print_plan(request: "DistilRequest", sample: "Sample", as_json: bool) -> None:
    if as_json:
        console.print_json(_sample_as_object(request, sample))
        return
    console.say(
        f"{request.collection}: {len(sample.pairs):,} of {sum(sample.available.values()):,} pairs "
        f"that {request.assessor} judged, {sample.per_label:,} of each label; "
        f"then {request.iterations} x {counted(len(sample.available), 'rubrics')}"
    )
    _warn_short(sample)


def _warn_short(sample: "Sample") -> None:
    for label, n in sample.short.items():
        console.warn(
            f"the label {label} has only {counted(n, 'pairs')}, not {sample.per_label:,}: "
            "all are drawn"
        )


def _sample_as_object(request: "DistilRequest", sample: "Sample") -> dict[str, Any]:
    return {
        "collection": request.collection,
        "assessor": request.assessor,
        "grader": request.grader.name,
        "grader_id": request.grader.grader_id,
        "name": request.name,
        "seed": request.seed,
        "pairs": len(sample.pairs),
        "per_label": sample.per_label,
        "drawn": {label: len(sample.of(label)) for label in sample.available},
        "available": sample.available,
    }


def as_object(request: "DistilRequest", outcome: "Outcome") -> dict[str, Any]:
    """A run for programs."""
    return _sample_as_object(request, outcome.sample) | {
        "rubric_id": outcome.rubric_id,
        "is_new": outcome.is_new,
        "rubrics": outcome.rubrics,
        "explained": outcome.explained,
        "kept": outcome.kept,
        "failed": [
            {"query_id": query_id, "passage_id": passage_id, "reason": why}
            for (query_id, passage_id), why in outcome.failed.items()
        ],
        "cut_characters": outcome.cut_characters,
        "notes": outcome.notes,
        "stopped": outcome.stopped,
        "tokens": outcome.tokens,
        "seconds": round(outcome.seconds, 3),
    }


def print_outcome(request: "DistilRequest", outcome: "Outcome") -> None:
    """What a run did, and what comes next; the oddities on standard error."""
    _warn_short(outcome.sample)
    if outcome.rubric_id is None:
        console.warn(
            f"stopped; nothing was stored. {outcome.explained + outcome.kept:,} explanations are "
            "kept: the same command continues with them"
        )
        return
    lines = [
        f"query {query_id}, passage {passage_id}: not explained: {why}"
        for (query_id, passage_id), why in outcome.failed.items()
    ]
    warn_first(lines)
    if outcome.cut_characters:
        console.warn(
            f"{outcome.cut_characters:,} characters of explanations did not fit the model and were "
            "not read; more --iterations read less at a time"
        )
    if not outcome.is_new:
        _say_known(request.name, outcome.rubric_id)
        return
    console.say(
        f"{request.name}@{outcome.rubric_id}: rubrics of {counted(len(outcome.rubrics), 'labels')} "
        f"from {counted(len(outcome.sample.pairs), 'pairs')} in {console.duration(outcome.seconds)}"
    )
    console.hint(
        f"next: gradelake distil --show {request.name}; then judge by it: "
        f'label_rubrics = "{request.name}"'
    )


def _show(project, stated: str, as_json: bool) -> None:
    from gradelake.grading.graders.label_rubrics import find_label_rubric, pairs_of

    with Lake.writer(project) as lake:
        rubric = find_label_rubric(lake, stated, "--show")
        pairs = pairs_of(lake, rubric.rubric_id)
    if as_json:
        console.print_json(
            {
                "rubric_id": rubric.rubric_id,
                "name": rubric.name,
                **rubric.facts,
                "rubrics": rubric.texts,
                "pairs": pairs,
            }
        )
        return
    facts = rubric.facts
    console.say(
        f"{rubric.name}@{rubric.rubric_id}: from {counted(len(pairs), 'judgments')} of "
        f"{facts['assessor']} in {facts['collection']}, by {_maker(facts)}, "
        f"{counted(facts['iterations'], 'iterations')}, {facts['created_at']:%Y-%m-%d %H:%M} UTC"
    )
    for label, text in rubric.texts.items():
        console.say(f"\nLabel {label}\n{text}")


def _maker(facts: Mapping[str, Any]) -> str:
    from gradelake.grading.distil.rubric_file import PERSON

    return "a person" if facts["engine"] == PERSON else facts["model"] or facts["engine"]


def _export(project, stated: str, file: str, as_json: bool) -> None:
    from gradelake.grading.distil.rubric_file import write_rubric
    from gradelake.grading.graders.label_rubrics import find_label_rubric

    with Lake.writer(project) as lake:
        rubric = find_label_rubric(lake, stated, "--export")
    write_rubric(rubric, Path(file))
    if as_json:
        console.print_json({"file": file, "name": rubric.name, "rubric_id": rubric.rubric_id})
        return
    console.say(f"{file}: {rubric.name}@{rubric.rubric_id}, {counted(len(rubric.texts), 'labels')}")
    console.hint(f"edit its texts, then: gradelake distil --import {rubric.name} {file}")


def _import(project, name: str, file: str, as_json: bool) -> None:
    from gradelake.grading.distil import rubric_file

    rubric_file.check_rubric_name(name, "--import")
    with Lake.writer(project) as lake:
        base, texts = rubric_file.read_rubric_file(lake, Path(file))
        rubric_id, is_new = rubric_file.store_edited(lake, name, base, texts, sys.argv[1:])
    if as_json:
        console.print_json({"name": name, "rubric_id": rubric_id, "is_new": is_new})
    elif not is_new:
        _say_known(name, rubric_id)
    else:
        console.say(
            f"{name}@{rubric_id}: {counted(len(texts), 'labels')}, edited from "
            f"{base.name}@{base.rubric_id}"
        )
        console.hint(f'graders with label_rubrics = "{name}" judge by it from now on')


def _say_known(name: str, rubric_id: str | None) -> None:
    console.say(f"{name}@{rubric_id} is in the lake already, word for word")
