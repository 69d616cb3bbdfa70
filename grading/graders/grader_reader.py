"""From `[graders.NAME]` of gradelake.toml to a grader."""

from collections.abc import Mapping
from pathlib import Path

from gradelake.grading.engines import Engine
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.graders.grader_prompt import parser_of, prompt_of
from gradelake.grading.graders.grader_settings import read_settings
from gradelake.grading.graders.label_rubrics import LabelRubric
from gradelake.grading.graders.model_revision import model_revision
from gradelake.grading.prompts.prompt import WRITING, Prompt
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, did_you_mean

GREEDY = {"temperature": 0.0, "top_p": 1.0}
MAX_TOKENS_OF_TEXT = 512
MAX_TOKENS_OF_JSON = 1024  # ten questions take about 300, an explanation or a rubric 400


def read_grader(
    project: Project,
    name: str,
    answers_from_id: str | None = None,
    rubric: LabelRubric | None = None,
) -> Grader:
    """Read and check the settings of a grader.

    `answers_from_id` is the id of the grader whose answers are verified, `rubric` what
    `label_rubrics` names, both once looked up in the lake (`configured`). Raises `BadInput` naming
    what is wrong; nothing is loaded yet.
    """
    if name not in project.graders:
        raise BadInput(f"{project.file}: no [graders.{name}]", did_you_mean(name, project.graders))
    where, stated = f"{project.file}: [graders.{name}]", project.graders[name]
    if "api_key" in stated:
        raise BadInput(
            f"{where}: a key does not belong in a file",
            "Put it into an environment variable, and that variable's name into api_key_env.",
        )
    engine: type[Engine] = Engine
    engine_name, engine_file = stated.get("engine"), None
    if isinstance(engine_name, str):
        engine, engine_file = engine_finder.find(project, engine_name, where)
    table, settings = read_settings(project, name, engine)
    prompt = prompt_of(project, table, rubric, where)
    writes = prompt.target in WRITING
    if ("generate" if writes else prompt.target) not in engine.targets:
        raise BadInput(
            f"{where}: the engine {engine_name!r} cannot answer the prompt {prompt.name!r}, "
            f"whose target is {prompt.target!r}",
            f"It answers: {', '.join(sorted(engine.targets))}."
            + (" A model writes texts: engine vllm, openai or transformers." if writes else ""),
        )
    parser = parser_of(table, prompt, where)
    if engine.needs_model and not table.model:
        raise BadInput(f"{where}: name a model", "A folder, or the model's name at its hub.")
    folder = project.folder / Path(table.model).expanduser() if table.model else None
    if folder is not None and not folder.is_dir():
        folder = None  # a model of the hub
    path = str(folder.resolve()) if folder else table.model
    engine.check(settings, where)
    if not project.grading.get("ray_address"):  # else it is the cluster that must have it
        engine_finder.require_installed(engine, table.engine)
    if prompt.target == "verify" and table.answers_from is None:
        raise BadInput(
            f"{where}: the prompt {prompt.name!r} verifies answers, whose?",
            'Name the grader that extracts them: answers_from = "NAME"',
        )
    if prompt.target != "verify" and table.answers_from is not None:
        raise BadInput(
            f"{where}: answers_from is for prompts that verify answers; {prompt.name!r} does not"
        )
    own = engine.revision(table.model, settings)
    revision = table.revision or own
    if revision is None:
        revision = model_revision(path, where) if table.model else ""
    return Grader(
        name=name,
        engine=table.engine,
        engine_file=engine_file,
        model=folder.resolve().name if folder else table.model,
        model_path=path,
        revision=revision,
        prompt=prompt,
        parser=parser,
        decoding=_decoding(engine, prompt, table.decoding.stated, where),
        settings=settings,
        settings_for_speed=frozenset(
            key for key in settings if not engine.settings[key].changes_grades
        ),
        answers_from=answers_from_id,
        label_rubric_id=rubric.rubric_id if rubric else None,
        actors=table.actors,
        chunk_pairs=table.chunk_pairs or engine.chunk_pairs,
    )


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
