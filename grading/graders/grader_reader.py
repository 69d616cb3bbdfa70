"""From `[graders.NAME]` of gradelake.toml to a grader."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, create_model

from gradelake.grading.engines import Engine
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.graders.label_rubrics import LabelRubric, rubrics_text
from gradelake.grading.graders.model_revision import folder_hash, model_revision
from gradelake.grading.graders.trials import check_trials, later_trial
from gradelake.grading.prompts.examples import read_examples
from gradelake.grading.prompts.parsers import PARSERS, parsers_of
from gradelake.grading.prompts.prompt import Prompt
from gradelake.grading.prompts.prompt_file import PASSAGE_ITEMS, Decoding, find_prompt
from gradelake.grading.prompts.scale import Scale
from gradelake.sql.common import checked
from gradelake.sql.common.checked import Checked, Count, Text, one_of
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.judgment_kinds import WRITING
from gradelake.sql.common.project import MOST_TRIALS, Project, require_known

GREEDY = {"temperature": 0.0, "top_p": 1.0}
MAX_TOKENS_OF_TEXT = 512
MAX_TOKENS_OF_JSON = 1024  # ten questions take about 300, an explanation or a rubric 400
_OF_ENGINE = "of_engine_"  # keeps an engine's settings apart from what pydantic calls its own


class GraderSettings(Checked):
    """Settings of every grader; engines add their own."""

    engine: Text
    model: str = ""
    revision: str | None = None
    prompt: Text
    parser: Annotated[str, one_of(PARSERS)] | None = None
    constrained: bool | None = None
    decoding: Decoding = Field(
        Decoding(), description="For example: decoding = { temperature = 0 }."
    )
    actors: Count | None = None
    chunk_pairs: Count | None = None
    trials: Annotated[int, Field(ge=1, le=MOST_TRIALS)] = 1
    rotate_options: bool = False
    items_per_call: Annotated[int, Field(ge=1, le=100)] = 1
    collections: list[str] | None = Field(
        None, description='For example: collections = ["NAME"], those that `plan` uses it on.'
    )
    answers_from: str | None = Field(None, description='For example: answers_from = "NAME".')
    examples: str | None = Field(None, description='For example: examples = "few.jsonl".')
    label_rubrics: str | None = Field(None, description='For example: label_rubrics = "NAME".')
    scores_from: dict[str, Text] = Field(
        {}, description='For example: scores_from = { Exactness = "NAME", Coverage = "NAME" }.'
    )


def read_grader(
    project: Project,
    name: str,
    answers_from_id: str | None = None,
    rubric: LabelRubric | None = None,
    scores_from: Mapping[str, str] | None = None,
) -> Grader:
    """Read and check the settings of a grader.

    `answers_from_id` is the id of the grader whose answers are verified, `rubric` what
    `label_rubrics` names, `scores_from` the ids of the graders that it names, all once looked up
    in the lake (`configured`). Raises `BadInput` naming what is wrong; nothing is loaded yet.
    """
    where = f"{project.file}: [graders.{name}]"
    engine, engine_file, table, settings = _stated(project, name, where)
    prompt = _prompt(project, table, rubric, where)
    in_batches = engine.takes_batches and settings["batch"]
    misfits = chain(_of_engine(table, prompt, engine, in_batches), _of_prompt(table, prompt))
    for what, hint in misfits:
        raise BadInput(f"{where}: {what}", hint)
    if prompt.window is not None and not engine.takes_windows:
        prompt = replace(prompt, window=1)
    if table.constrained is False:
        prompt = replace(prompt, output="text")
    settings = engine.completed(_with_full_paths(project, engine, settings, where))
    engine.check(settings, where)
    if not project.grading.get("ray_address"):  # else it is the cluster that must have it
        engine_finder.require_installed(engine, table.engine)
    model, path = _model(project, table.model)
    revision = table.revision or engine.revision(table.model, settings)
    if revision is None:
        revision = model_revision(path, where) if table.model else ""
    grader = Grader(
        name=name,
        engine=table.engine,
        engine_file=engine_file,
        model=model,
        model_path=path,
        revision=revision,
        prompt=prompt,
        parser=_parser(table, prompt),
        decoding=_decoding(engine, prompt, table.decoding.stated, where),
        # stated only where it is not so, which keeps the ids of all other graders
        settings=settings | ({"constrained": False} if table.constrained is False else {}),
        settings_for_speed=frozenset(
            key for key in settings if not engine.settings[key].changes_grades
        ),
        folders=_hashed_folders(engine, settings),
        answers_from=answers_from_id,
        label_rubric_id=rubric.rubric_id if rubric else None,
        scores_from=scores_from or {},
        actors=table.actors,
        chunk_pairs=table.chunk_pairs or engine.chunk_pairs,
        in_batches=in_batches,
    )
    if prompt.target not in WRITING:
        check_trials(grader, table.trials, table.rotate_options, where)
    if name not in project.trials:
        return grader
    return later_trial(grader, name, project.trials[name][1], table.rotate_options)


def _stated(
    project: Project, name: str, where: str
) -> tuple[type[Engine], str | None, GraderSettings, dict[str, Any]]:
    """A grader's engine, its file when it is the project's own, and the settings as they are
    stated: of every grader, and those that its engine adds."""
    missing = f"{project.file}: no [graders.{name}]"
    require_known(name, project.graders, missing, none_yet="Describe it there: engine, prompt, ...")
    stated = project.graders[name]
    if "api_key" in stated:
        raise BadInput(
            f"{where}: a key does not belong in a file",
            "Put it into an environment variable, and that variable's name into api_key_env.",
        )
    engine, file = Engine, None
    if isinstance(stated.get("engine"), str):
        engine, file = engine_finder.find(project, stated["engine"], where)
    table, settings = _settings(project, name, engine)
    for collection in table.collections or ():
        missing = f"{where}: collections: no collection {collection!r}"
        require_known(collection, project.collections, missing)
    return engine, file, table, settings


def _hashed_folders(engine: type[Engine], settings: Mapping[str, Any]) -> dict[str, str]:
    """NAME@HASH of each folder that a setting names."""
    folders = {key: Path(settings[key]) for key in settings if engine.settings[key].is_folder}
    return {key: f"{folder.name}@{folder_hash(folder)}" for key, folder in folders.items()}


def _of_engine(
    table: GraderSettings, prompt: Prompt, engine: type[Engine], in_batches: bool
) -> Iterator[tuple[str, str | None]]:
    """What is asked of an engine that it cannot do, and what to do instead."""
    named, writes = f"the prompt {prompt.name!r}", prompt.target in WRITING
    if prompt.target == "importance":
        yield (
            f"{named} says which nuggets are vital, and makes none",
            "Name a prompt that makes them, and names this one: nuggetizer_create does.",
        )
    if ("generate" if writes else prompt.target) not in engine.targets:
        yield (
            f"the engine {table.engine!r} cannot answer {named}, whose target is {prompt.target!r}",
            f"It answers: {', '.join(sorted(engine.targets))}."
            + (" A model writes texts: engine vllm, openai or transformers." if writes else ""),
        )
    if in_batches and (writes or prompt.window is not None or prompt.target == "verify"):
        yield (
            f"batch: {named} needs several replies in turn",
            "Prompts that get one reply a pair go in batches. Leave the setting out"
            + (", or items_per_call." if table.items_per_call > 1 else "."),
        )
    if table.items_per_call > 1 and not engine.takes_windows:
        yield (
            "items_per_call: this engine is asked about each item by itself",
            "Leave the setting out, or take an engine of a model that writes.",
        )
    if table.constrained is not None and prompt.output != "scale":
        yield (
            f"constrained: {named} asks for text, not for a word of a scale",
            "Leave the setting out.",
        )
    if table.constrained is False and "generate" not in engine.targets:
        yield (
            "constrained: this engine writes no text, it gives words of the scale",
            "Leave the setting out, or use vllm, openai or transformers.",
        )
    if engine.needs_model and not table.model:
        yield "name a model", "A folder, or the model's name at its hub."
    if writes and table.trials > 1:
        yield "trials: only graders that give grades are asked several times", None


def _of_prompt(table: GraderSettings, prompt: Prompt) -> Iterator[tuple[str, str | None]]:
    """What is stated that does not go with the prompt, or is wanted by it, and what to do."""
    named, has_scores = f"the prompt {prompt.name!r}", "scores" in prompt.slots
    if prompt.target == "verify" and table.answers_from is None:
        yield (
            f"{named} verifies answers, whose?",
            'Name the grader that extracts them: answers_from = "NAME"',
        )
    if prompt.target != "verify" and table.answers_from is not None:
        yield f"answers_from is for prompts that verify answers; {prompt.name!r} does not", None
    if bool(table.scores_from) != has_scores:
        takes = "shows scores, whose?" if has_scores else "has no place for scores"
        yield (
            f"scores_from: {named} {takes}",
            'Of criteria_prompt: scores_from = { Exactness = "NAME", ... }, each the name of a '
            "grader of whole passages.",
        )
    parser, able = _parser(table, prompt), parsers_of(prompt.target, prompt.window is not None)
    if prompt.target in WRITING:
        if table.parser is not None:
            what = "with rubric items" if prompt.target == "generate" else f"to {prompt.name!r}"
            form = {"text": "they are", "json": "JSON", "list": "a list"}[parser]
            yield f"parser: replies {what} are read as {form}, always", None
    elif parser not in able:
        yield (
            f"the parser {parser!r} cannot read replies to {prompt.name!r}",
            f"Those that can: {', '.join(able)}.",
        )


def _parser(table: GraderSettings, prompt: Prompt) -> str:
    """The name of the grader's parser; texts are read in one way each."""
    if prompt.target == "answer":
        return "text"
    if prompt.target in WRITING:
        return "json" if prompt.asks_json else "list"
    return table.parser or prompt.parser or ""


def _model(project: Project, stated: str) -> tuple[str, str]:
    """What a model is called, and what an engine loads: of a folder its name and its whole path."""
    folder = project.folder / Path(stated).expanduser()
    if not stated or not folder.is_dir():  # a model of the hub
        return stated, stated
    folder = folder.resolve()
    return folder.name, str(folder)


def _decoding(
    engine: type[Engine], prompt: Prompt, stated: Mapping[str, float | int], where: str
) -> dict[str, float | int]:
    """Greedy, unless the prompt's paper or the user says otherwise."""
    max_tokens = 1 if prompt.output == "scale" else MAX_TOKENS_OF_TEXT
    if prompt.target in WRITING:
        max_tokens = MAX_TOKENS_OF_JSON
    values = {**GREEDY, "max_tokens": max_tokens, **prompt.decoding, **stated}
    for key, value in values.items():
        if engine.decoding is not None and key not in engine.decoding and value:
            raise BadInput(
                f"{where}: this engine has no {key}",
                f"The prompt {prompt.name!r} or `decoding` asks for it; set it to 0 there.",
            )
    if values["temperature"] > 0 and "seed" not in values:
        values["seed"] = 0
    return dict(sorted(values.items()))


def _settings(
    project: Project, name: str, engine: type[Engine]
) -> tuple[GraderSettings, dict[str, Any]]:
    """The settings of a grader, and those that its engine adds.

    Raises `BadInput` with all that are wrong, and where they are.
    """
    fields: dict[str, Any] = {
        f"{_OF_ENGINE}{key}": (
            setting.kind,
            Field(setting.default, alias=key, description=setting.meaning),
        )
        for key, setting in engine.settings.items()
    }
    model = create_model("GraderSettings", __base__=GraderSettings, **fields)
    settings, stated = checked.table(model, project, "graders", name), project.graders[name]
    own = {key: getattr(settings, f"{_OF_ENGINE}{key}") for key in engine.settings}
    for key, setting in engine.settings.items():
        if key in stated and stated[key] == setting.default:
            own[key] = stated[key]  # 2 for 2.0, as grader ids have always had it
    return settings, own


def _with_full_paths(
    project: Project, engine: type[Engine], settings: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """The settings with the whole paths of folders; without those that name none, which keeps the
    ids of all other graders."""
    found = dict(settings)
    for key in [key for key in settings if engine.settings[key].is_folder]:
        if not found[key]:
            del found[key]
            continue
        folder = (project.folder / Path(found[key]).expanduser()).resolve()
        if not folder.is_dir():
            raise BadInput(f"{where}: {key}: no such folder: {folder}")
        found[key] = str(folder)
    return found


def _prompt(
    project: Project, table: GraderSettings, rubric: LabelRubric | None, where: str
) -> Prompt:
    """The prompt that a `[graders.NAME]` names, complete but for the texts of a pair.

    `rubric` is what `label_rubrics` names, looked up in the lake. Raises `BadInput` for settings
    that do not go with the prompt, and `Rejected` for a file of examples with faults.
    """
    prompt = find_prompt(project, table.prompt)
    if table.items_per_call > 1:
        prompt = _together(project, prompt, table.items_per_call, where)
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


def _together(project: Project, prompt: Prompt, n: int, where: str) -> Prompt:
    """The prompt that asks about so many items of a passage at once."""
    if prompt.target not in PASSAGE_ITEMS:
        in_file = " How many it asks about at once, its file says: window." if prompt.window else ""
        raise BadInput(
            f"{where}: items_per_call: the prompt {prompt.name!r} does not grade passages on "
            "questions or nuggets",
            f"Leave the setting out.{in_file}",
        )
    asks = prompt if prompt.window else prompt.together and find_prompt(project, prompt.together)
    if not asks or asks.target != prompt.target or asks.window is None:
        raise BadInput(
            f"{where}: items_per_call: the prompt {prompt.name!r} asks about one item, {{item}}, "
            "and names none that asks about several, {items}",
            f"Write one (`gradelake prompts show {prompt.target}_self_rating_together` prints one "
            f"that works), and name it in the file of {prompt.name!r}: together: NAME. Or leave "
            "the setting out.",
        )
    return replace(asks, window=n)


def _with_examples(project: Project, prompt: Prompt, stated: str, where: str) -> Prompt:
    if not prompt.examples:
        raise BadInput(
            f"{where}: the prompt {prompt.name!r} shows no examples",
            "Prompts that do have `_few` in their name, or are yours with {examples} in them.",
        )
    path, scale = project.folder / stated, prompt.grade_scale
    if not path.is_file():
        option = scale if scale.is_numeric else "/".join(scale.words)
        raise BadInput(
            f"{where}: examples: no such file: {path}",
            "Draw some: gradelake prompts sample COLLECTION --assessor NAME --per-label N "
            f"--seed S --scale {option} --output {stated}",
        )
    return replace(prompt, examples=tuple(read_examples(path, stated, scale)))


def _with_rubric(prompt: Prompt, rubric: LabelRubric, where: str) -> Prompt:
    """The labels of the rubric become the scale: 0 to the collection's highest."""
    if not prompt.grade_scale.is_numeric:
        raise BadInput(
            f"{where}: the prompt {prompt.name!r} answers in words, its rubrics are of numbers",
            f"Give the prompt the scale {min(rubric.texts)}-{max(rubric.texts)}.",
        )
    scale = Scale({str(label): label for label in sorted(rubric.texts)})
    return replace(prompt, scale=scale, label_rubrics=rubrics_text(rubric.texts))
