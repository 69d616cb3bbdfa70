"""A grader: everything that can change a grade, under one hash."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradelake.grading.engines import Engine
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader_prompt import parser_of, prompt_of
from gradelake.grading.graders.grader_settings import read_settings
from gradelake.grading.graders.model_revision import model_revision
from gradelake.grading.prompts.neutral import RENDERING
from gradelake.grading.prompts.prompt import WRITING, Prompt
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, did_you_mean

if TYPE_CHECKING:
    from gradelake.grading.distil.label_rubrics import LabelRubric

GREEDY = {"temperature": 0.0, "top_p": 1.0}
MAX_TOKENS_OF_TEXT = 512
MAX_TOKENS_OF_JSON = 1024  # ten questions take about 300, an explanation or a rubric 400


@dataclass(frozen=True)
class Grader:
    """One `[graders.NAME]` of gradelake.toml, checked. Sent whole to the worker processes."""

    name: str
    engine: str
    engine_file: str | None  # of an engine of the project's own
    model: str  # a hub's name, or the name of the model's folder
    model_path: str  # what an engine loads: the hub's name, or the whole path
    revision: str
    prompt: Prompt
    parser: str
    decoding: Mapping[str, float | int]
    settings: Mapping[str, Any]  # the engine's
    answers_from: str | None = None  # grader_id whose answers are verified
    label_rubric_id: str | None = None  # of the rubric in its prompt
    actors: int | None = None
    chunk_pairs: int = 320

    @classmethod
    def named(
        cls,
        project: Project,
        name: str,
        answers_from_id: str | None = None,
        rubric: "LabelRubric | None" = None,
    ) -> "Grader":
        """Read and check the settings of a grader.

        `answers_from_id` is the id of the grader whose answers are verified, `rubric` what
        `label_rubrics` names, both once looked up in the lake (`configured`). Raises
        `BadInput` naming what is wrong; nothing is loaded yet.
        """
        if name not in project.graders:
            raise BadInput(
                f"{project.file}: no [graders.{name}]", did_you_mean(name, project.graders)
            )
        return _read(project, name, answers_from_id, rubric)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What the id is made of; also stored, so that a grade can be traced to all of it."""
        known = self.engine_class.settings
        rubric = {"label_rubric_id": self.label_rubric_id} if self.label_rubric_id else {}
        return {
            "engine": self.engine,
            "engine_sha256": self._engine_sha256,
            "model": self.model,
            "model_revision": self.revision,
            "prompt_sha256": self.prompt.sha256,
            "context_first": self.prompt.context_first,
            "parser": self.parser,
            "decoding": dict(self.decoding),
            "settings": {
                key: value for key, value in self.settings.items() if known[key].changes_grades
            },
            "rendering": RENDERING,
            "answers_from": self.answers_from,
            **rubric,
        }

    @cached_property
    def grader_id(self) -> str:
        """16 hex digits: any change that can change a grade makes another one."""
        content = json.dumps(self.identity, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    @property
    def _engine_sha256(self) -> str | None:
        """Of an engine of the project's own: its code can change a grade."""
        if self.engine_file is None:
            return None
        return hashlib.sha256(Path(self.engine_file).read_bytes()).hexdigest()

    @property
    def engine_class(self) -> type[Engine]:
        return engine_finder.load(self.engine, self.engine_file)

    def row(self) -> dict[str, Any]:
        """The grader as `raw.graders` has it, without the time."""
        recorded = {
            key: self.identity[key]
            for key in ("decoding", "settings", "context_first", "rendering", "answers_from")
        }
        return {
            "grader_id": self.grader_id,
            "name": self.name,
            "engine": self.engine,
            "model": self.model,
            "model_revision": self.revision,
            "target": self.prompt.target,
            "prompt": self.prompt.name,
            "prompt_sha256": self.prompt.sha256,
            "prompt_text": self.prompt.text,
            "scale_min": self.prompt.scale.min if self.prompt.scale else 0,
            "scale_max": self.prompt.scale.max if self.prompt.scale else 0,
            "decoding": json.dumps(recorded, sort_keys=True),
            "parser": self.parser,
            "label_rubric_id": self.label_rubric_id,
        }


def _read(
    project: Project, name: str, answers_from_id: str | None, rubric: "LabelRubric | None"
) -> Grader:
    where, stated = f"{project.file}: [graders.{name}]", project.graders[name]
    if "api_key" in stated:
        raise BadInput(
            f"{where}: a key does not belong into a file",
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
    is_folder = bool(folder) and folder.is_dir()
    path = str(folder.resolve()) if is_folder else table.model
    engine.check(settings, where)
    if not project.grading.get("ray_address"):  # else it is the cluster that must have it
        engine_finder.require_installed(engine, engine_name)
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
        engine=engine_name,
        engine_file=engine_file,
        model=folder.resolve().name if is_folder else table.model,
        model_path=path,
        revision=revision,
        prompt=prompt,
        parser=parser,
        decoding=_decoding(engine, prompt, table.decoding.stated, where),
        settings=settings,
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
