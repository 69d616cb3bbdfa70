"""The prompt of a grader: a prompt's file, with the examples and the rubric of the grader's own."""

from dataclasses import replace
from typing import TYPE_CHECKING

from gradelake.grading.graders.grader_settings import GraderSettings
from gradelake.grading.prompts.examples import read_examples
from gradelake.grading.prompts.parsers import PARSERS
from gradelake.grading.prompts.prompt import WRITING, Prompt
from gradelake.grading.prompts.prompt_file import find_prompt
from gradelake.grading.prompts.scale import Scale
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, did_you_mean

if TYPE_CHECKING:
    from gradelake.grading.graders.label_rubrics import LabelRubric


def prompt_of(
    project: Project, table: GraderSettings, rubric: "LabelRubric | None", where: str
) -> Prompt:
    """The prompt that a `[graders.NAME]` names, complete but for the texts of a pair.

    `rubric` is what `label_rubrics` names, looked up in the lake. Raises `BadInput` for settings
    that do not go with the prompt, and `Rejected` for a file of examples with faults.
    """
    prompt = find_prompt(project, table.prompt)
    if table.examples is not None:
        prompt = _with_examples(project, prompt, table.examples, where)
    takes_rubric = "label_rubrics" in prompt.slots
    if table.label_rubrics is not None and not takes_rubric:
        raise BadInput(
            f"{where}: the prompt {prompt.name!r} has no place for label_rubrics",
            "Prompts that do: true_direct, true_reasoning, and yours with {label_rubrics} in them.",
        )
    if not takes_rubric:
        return prompt
    if rubric is None:
        raise BadInput(
            f"{where}: the prompt {prompt.name!r} needs the rubrics of the labels, which?",
            'Name them: label_rubrics = "NAME". They are made with: '
            "gradelake distil COLLECTION --assessor NAME --grader NAME --name NAME",
        )
    return _with_rubric(prompt, rubric, where)


def _with_examples(project: Project, prompt: Prompt, stated: str, where: str) -> Prompt:
    if not prompt.examples:
        raise BadInput(
            f"{where}: the prompt {prompt.name!r} shows no examples",
            "Prompts that do have `_few` in their name, or are yours with {examples} in them.",
        )
    path = project.folder / stated
    if not path.is_file():
        raise BadInput(
            f"{where}: examples: no such file: {path}",
            "Draw some: gradelake prompts sample COLLECTION --assessor NAME --per-label N "
            f"--seed S --scale {_scale_option(prompt.grade_scale)} --output {stated}",
        )
    return replace(prompt, examples=tuple(read_examples(path, stated, prompt.grade_scale)))


def _scale_option(scale: Scale) -> str:
    return str(scale) if scale.is_numeric else "/".join(scale.words)


def _with_rubric(prompt: Prompt, rubric: "LabelRubric", where: str) -> Prompt:
    """The labels of the rubric become the scale: 0 to the collection's highest."""
    if not prompt.grade_scale.is_numeric:
        raise BadInput(
            f"{where}: the prompt {prompt.name!r} answers in words, its rubrics are of numbers",
            f"Give the prompt the scale {min(rubric.texts)}-{max(rubric.texts)}.",
        )
    scale = Scale({str(label): label for label in sorted(rubric.texts)})
    return replace(prompt, scale=scale, label_rubrics=rubric.as_text())


def parser_of(table: GraderSettings, prompt: Prompt, where: str) -> str:
    """The name of the grader's parser. Raises `BadInput` for one that cannot read the replies."""
    if prompt.target in WRITING:
        if table.parser is not None:
            what = "with rubric items" if prompt.target == "generate" else f"to {prompt.name!r}"
            raise BadInput(f"{where}: parser: replies {what} are read as JSON, always")
        return "json"
    parser = prompt.parser if table.parser is None else table.parser
    if parser not in PARSERS:
        raise BadInput(
            f"{where}: there is no parser {parser!r}", did_you_mean(str(parser), PARSERS)
        )
    if prompt.target not in PARSERS[parser].targets:
        fitting = [name for name, known in PARSERS.items() if prompt.target in known.targets]
        raise BadInput(
            f"{where}: the parser {parser!r} cannot read replies to {prompt.name!r}",
            f"Those that can: {', '.join(fitting)}.",
        )
    return parser
