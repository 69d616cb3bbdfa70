"""A grader by its name in gradelake.toml, ready to be planned for."""

from collections.abc import Mapping
from typing import Any

from gradelake.grading.graders.grader import Grader
from gradelake.grading.graders.grader_reader import read_grader
from gradelake.grading.graders.label_rubrics import find_label_rubric
from gradelake.grading.prompts.prompt_file import load_prompts
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.judgment_kinds import WRITING
from gradelake.sql.common.project import Project, did_you_mean
from gradelake.sql.lake.opening import Lake


def configured(project: Project, lake: Lake, name: str) -> Grader:
    """A grader of gradelake.toml; one that verifies is told whose answers, one that judges by
    rubrics of labels which texts, one that sums scores up whose.

    Answers and scores come from other graders there, or from those in the lake, such as imported
    ones; rubrics from the lake. Raises `BadInput` for settings that cannot be used, answers that
    nobody extracts, scores that nobody gives, and rubrics that the lake does not have.
    """
    table = project.graders.get(name, {})
    scores, rubric, source = (table.get(key) for key in LOOKED_UP)
    if isinstance(scores, dict) and scores:  # what is of another kind, `read_grader` refuses
        ids = {
            shown: _id_of(project, lake, name, f"scores_from: {shown}", each, "direct")
            for shown, each in scores.items()
        }
        return read_grader(project, name, scores_from=ids)
    if isinstance(rubric, str):
        where = f"{project.file}: [graders.{name}] label_rubrics"
        return read_grader(project, name, rubric=find_label_rubric(lake, rubric, where))
    if isinstance(source, str):
        extractor = _id_of(project, lake, name, "answers_from", source, "extract")
        return read_grader(project, name, extractor)
    grader = read_grader(project, name)
    require_judge(grader)
    return grader


def _id_of(project: Project, lake: Lake, name: str, setting: str, source: str, target: str) -> str:
    """The id of a grader with a target that a setting of another names: one of gradelake.toml, or
    else the newest of the lake. One that is shown scores itself is refused, so that none waits for
    itself."""
    newest = "select name, arg_max(grader_id, created_at) from lake.raw.graders"
    known = dict(lake.rows(f"{newest} where target = ? group by name", target))
    ours = {
        each
        for each, of in _targets(project).items()
        if of == target and not project.graders[each].get("scores_from")
    }
    if source in ours:
        return configured(project, lake, source).grader_id
    is_own_name = source == name and target == "extract"
    if source in known and (is_own_name or source not in project.graders):
        return known[source]
    does, prompt = {
        "direct": ("grades whole passages by itself", "umbrela"),
        "extract": ("extracts answers", "question_answer"),
    }[target]
    such = f"Describe one there, with a prompt such as {prompt}."
    raise BadInput(
        f"{project.file}: [graders.{name}] {setting}: no grader {source!r} {does}",
        did_you_mean(str(source), {*known, *ours} - {name}, such),
    )


# settings of a grader that name what is looked up in the lake
LOOKED_UP = ("scores_from", "label_rubrics", "answers_from")
# what a grader does that gives no grades, with what, and the command that it does it with
_WRITES = {
    "generate": ("writes", "rubric items", "gradelake generate COLLECTION --grader {}"),
    "explain": (
        "explains",
        "labels",
        "gradelake distil COLLECTION --assessor NAME --grader {} --name NAME",
    ),
    "answer": ("writes", "answers", "gradelake generate answers COLLECTION --grader {}"),
    "distil": ("distils", "rubrics", "gradelake distil --distil-prompt, and not as a grader"),
}


def require_judge(grader: Grader) -> None:
    """Raise `BadInput` for a grader that writes texts: it gives no grades."""
    if grader.prompt.target in WRITING:
        does, what, command = _WRITES[grader.prompt.target]
        raise BadInput(
            f"the grader {grader.name!r} {does} {what}, with the prompt {grader.prompt.name!r}; it "
            "grades nothing",
            f"Use it with: {command.format(grader.name)}",
        )


def writing(project: Project, name: str, target: str) -> Grader:
    """A grader of gradelake.toml that writes texts: rubric items (`generate`), explanations of
    labels (`explain`), or answers (`answer`).

    Raises `BadInput` for settings that cannot be used, and for a grader that does something else.
    """
    does, what, _ = _WRITES[target]
    prompts = load_prompts(project)
    stated = project.graders.get(name, {}).get("prompt")
    if isinstance(stated, str) and stated in prompts and prompts[stated].target != target:
        able = sorted(name for name, prompt in prompts.items() if prompt.target == target)
        raise BadInput(
            f"{project.file}: [graders.{name}]: its prompt {stated!r} {does} no {what}",
            f"Prompts that do: {', '.join(able)}.",
        )
    return read_grader(project, name)


def judges(project: Project, collection: str | None = None) -> tuple[str, ...]:
    """Names of the graders of gradelake.toml that do not write texts; with a collection, without
    those that are kept for others."""
    targets = _targets(project)
    return tuple(
        name
        for name, table in project.graders.items()
        if targets.get(name) not in WRITING
        and (collection is None or _may_grade(project, table, collection))
    )


def _may_grade(project: Project, table: Mapping[str, Any], collection: str) -> bool:
    """Whether a grader's `collections` has this one, or nothing that would keep it from it. Names
    that are wrong keep nobody: reading the grader, or the collection, says what is wrong."""
    kept_for, known = table.get("collections"), list(project.collections)
    if not isinstance(kept_for, list) or collection not in known:
        return True
    return collection in kept_for or any(name not in known for name in kept_for)


def _targets(project: Project) -> dict[str, str]:
    """Graders of gradelake.toml, and what their prompts ask about, where that is a prompt."""
    prompts = load_prompts(project)
    return {
        name: prompts[table["prompt"]].target
        for name, table in project.graders.items()
        if isinstance(table.get("prompt"), str) and table["prompt"] in prompts
    }
