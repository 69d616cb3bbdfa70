"""`gradelake distil`: rubrics of labels from judged pairs, and what they say."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from gradelake.grading.commands import chosen_queries, warn_first
from gradelake.sql.common import console
from gradelake.sql.common.command_line import answering, refuse_beside, refuse_others, typed
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.common.quoting import shell_word
from gradelake.sql.lake.opening import Lake


@dataclass
class RubricText:
    """What is said of a rubric: for programs, for people, and what may be done next."""

    content: dict[str, Any]
    text: str
    hint: str = ""

    def as_object(self) -> dict[str, Any]:
        return self.content


def _shown(project: Project, stated: str) -> RubricText:
    from gradelake.grading.distil.rubric_file import PERSON
    from gradelake.grading.graders.label_rubrics import find_label_rubric, pairs_of

    with Lake.writer(project) as lake:
        rubric = find_label_rubric(lake, stated, "--show")
        pairs = pairs_of(lake, rubric.rubric_id)
    facts = rubric.facts
    maker = "a person" if facts["engine"] == PERSON else facts["model"] or facts["engine"]
    content = {
        "rubric_id": rubric.rubric_id,
        "name": rubric.name,
        **facts,
        "rubrics": rubric.texts,
        "pairs": pairs,
    }
    head = (
        f"{rubric.name}@{rubric.rubric_id}: from {counted(len(pairs), 'judgments')} of "
        f"{facts['assessor']} in {facts['collection']}, by {maker}, "
        f"{counted(facts['iterations'], 'iterations')}, {facts['created_at']:%Y-%m-%d %H:%M} UTC"
    )
    texts = (f"\n\nLabel {label}\n{text}" for label, text in rubric.texts.items())
    return RubricText(content, "".join([head, *texts]))


def _exported(project: Project, stated: str, file: str) -> RubricText:
    from gradelake.grading.distil.rubric_file import write_rubric
    from gradelake.grading.graders.label_rubrics import find_label_rubric

    with Lake.writer(project) as lake:
        rubric = find_label_rubric(lake, stated, "--export")
    write_rubric(rubric, Path(file))
    return RubricText(
        {"file": file, "name": rubric.name, "rubric_id": rubric.rubric_id},
        f"{file}: {rubric.name}@{rubric.rubric_id}, {counted(len(rubric.texts), 'labels')}",
        f"edit its texts, then: gradelake distil --import {rubric.name} {shell_word(file)}",
    )


def _imported(project: Project, name: str, file: str) -> RubricText:
    from gradelake.grading.distil import rubric_file

    rubric_file.check_rubric_name(name, "--import")
    with Lake.writer(project) as lake:
        base, texts = rubric_file.read_rubric_file(lake, Path(file))
        rubric_id, is_new = rubric_file.store_edited(lake, name, base, texts, typed())
    content = {"name": name, "rubric_id": rubric_id, "is_new": is_new}
    if not is_new:
        return RubricText(content, _known(name, rubric_id))
    labels = counted(len(texts), "labels")
    return RubricText(
        content,
        f"{name}@{rubric_id}: {labels}, edited from {base.name}@{base.rubric_id}",
        f'graders with label_rubrics = "{name}" judge by it from now on',
    )


def _show(result):
    if isinstance(result, RubricText):
        console.say(result.text)
        if result.hint:
            console.hint(result.hint)
    elif not click.get_current_context().params["dry_run"]:
        _show_outcome(result)
    else:
        request, sample = result.request, result.sample
        console.say(
            f"{request.collection}: {len(sample.pairs):,} of {sum(sample.available.values()):,} "
            f"pairs that {request.assessor} judged, {sample.per_label:,} of each label; "
            f"then {request.iterations} x {counted(len(sample.available), 'rubrics')}"
        )
        _warn_short(result)


def _warn_short(plan):
    for label, n in plan.sample.short.items():
        console.warn(
            f"the label {label} has only {counted(n, 'pairs')}, not {plan.sample.per_label:,}: "
            "all are drawn"
        )


def _show_outcome(outcome):
    name = outcome.request.name
    _warn_short(outcome)
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
        console.say(_known(name, outcome.rubric_id))
        return
    console.say(
        f"{name}@{outcome.rubric_id}: rubrics of {counted(len(outcome.rubrics), 'labels')} "
        f"from {counted(len(outcome.sample.pairs), 'pairs')} in {console.duration(outcome.seconds)}"
    )
    console.hint(
        f'next: gradelake distil --show {name}; then judge by it: label_rubrics = "{name}"'
    )


def _known(name: str, rubric_id: str | None) -> str:
    return f"{name}@{rubric_id} is in the lake already, word for word"


@click.command(short_help="Let a model explain judgments, and make a rubric of each label.")
@click.argument("collection", required=False)
@click.option("--assessor", help="The assessor whose judgments are explained.")
@click.option(
    "--grader", "grader_name", help="A grader of gradelake.toml whose prompt explains labels."
)
@click.option("--name", help="What the rubric is called; a name in use gets a new version.")
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.1,
    help="The share of the judged pairs to draw.",
)
@click.option(
    "--per-label", type=click.IntRange(min=1), help="Pairs per label, instead of a share."
)
@click.option(
    "--iterations",
    type=click.IntRange(1, 20),
    default=3,
    help="In how many steps explanations become a rubric.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=1,
    help="The same seed draws the same pairs.",
)
@click.option(
    "--queries", help="Only pairs of these queries: ids separated by commas, or a file of ids."
)
@click.option(
    "--distil-prompt", default="true_distil", help="The prompt that makes a rubric of explanations."
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
@answering(_show)
@click.pass_obj
def distil(project, show, export, edited, dry_run, **stated):
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
    given = [
        name for name, said in (("show", show), ("export", export), ("edited", edited)) if said
    ]
    if len(given) > 1:
        raise click.UsageError("--show, --export and --import cannot be used together.")
    if given:
        refuse_others(*given)
    if show:
        return _shown(project, show)
    if export:
        return _exported(project, *export)
    if edited:
        return _imported(project, *edited)
    from gradelake.grading.distil import distil as distilling

    request = _request(project, **stated)
    if dry_run:
        with Lake.writer(project) as lake:
            return distilling.DistilPlan(request, distilling.draw(lake, request))
    return distilling.distil(project, request, typed())


def _request(project, collection, assessor, grader_name, name, queries, distil_prompt, **options):
    from gradelake.grading.distil.distil_store import DistilRequest
    from gradelake.grading.graders.configured import writing
    from gradelake.grading.prompts.prompt_file import find_prompt

    needed = {
        "COLLECTION": collection,
        "--assessor": assessor,
        "--grader": grader_name,
        "--name": name,
    }
    if missing := [option for option, value in needed.items() if value is None]:
        raise BadInput(
            f"also needed: {', '.join(missing)}",
            "Or --show NAME, to print a rubric; --export and --import, to edit it.",
        )
    if options["per_label"]:
        refuse_beside("--per-label", {"--share": "says how many are drawn"})
    prompt = find_prompt(project, distil_prompt)
    if prompt.target != "distil":
        raise BadInput(
            f"--distil-prompt: {distil_prompt!r} distils no rubrics",
            "Take true_distil, or a prompt of your own with target distil.",
        )
    grader, ids = writing(project, grader_name, "explain"), chosen_queries(queries)
    return DistilRequest(collection, assessor, grader, name, prompt, query_ids=ids, **options)
