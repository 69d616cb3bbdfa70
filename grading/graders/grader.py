"""A grader: everything that can change a grade, under one hash."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradelake.grading.engines import Engine, Setting
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader_prompt import parser_of, prompt_of
from gradelake.grading.graders.model_revision import model_revision
from gradelake.grading.prompts.neutral import RENDERING
from gradelake.grading.prompts.prompt import WRITING, Prompt
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, check_keys, did_you_mean

if TYPE_CHECKING:
    from gradelake.grading.distil.label_rubrics import LabelRubric

# settings of every grader; engines add their own
COMMON = (
    "engine",
    "model",
    "revision",
    "prompt",
    "parser",
    "decoding",
    "actors",
    "chunk_pairs",
    "answers_from",
    "examples",
    "label_rubrics",
)
# name -> (type, lowest, highest): what models are told about choosing tokens
DECODING: dict[str, tuple[type, float, float]] = {
    "temperature": (float, 0, 2),
    "top_p": (float, 0, 1),
    "max_tokens": (int, 1, 100_000),
    "frequency_penalty": (float, -2, 2),
    "presence_penalty": (float, -2, 2),
    "seed": (int, 0, 2**63 - 1),
}
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
        return _read(project, name, project.graders[name], answers_from_id, rubric)

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
    project: Project,
    name: str,
    table: dict,
    answers_from_id: str | None,
    rubric: "LabelRubric | None",
) -> Grader:
    where = f"{project.file}: [graders.{name}]"
    if "api_key" in table:
        raise BadInput(
            f"{where}: a key does not belong into a file",
            "Put it into an environment variable, and that variable's name into api_key_env.",
        )
    for key in ("engine", "prompt"):
        if not isinstance(table.get(key), str):
            raise BadInput(
                f"{where}: {key} is missing"
                if key not in table
                else f"{where}: {key} must be a string"
            )
    engine_name = table["engine"]
    engine, engine_file = engine_finder.find(project, engine_name, where)
    check_keys(table, [*COMMON, *engine.settings], where)
    prompt = prompt_of(project, table, rubric, where)
    writes = prompt.target in WRITING
    if ("generate" if writes else prompt.target) not in engine.targets:
        raise BadInput(
            f"{where}: the engine {engine_name!r} cannot answer the prompt {prompt.name!r}, "
            f"whose target is {prompt.target!r}",
            f"It answers: {', '.join(sorted(engine.targets))}."
            + (" A model writes texts: engine vllm, openai or transformers." if writes else ""),
        )
    for key in ("model", "parser", "revision"):
        if not isinstance(table.get(key, ""), str):
            raise BadInput(f"{where}: {key} must be a string, in quotes")
    parser = parser_of(table, prompt, where)
    model = table.get("model", "")
    if engine.needs_model and not model:
        raise BadInput(f"{where}: name a model", "A folder, or the model's name at its hub.")
    folder = project.folder / Path(model).expanduser() if model else None
    is_folder = bool(folder) and folder.is_dir()
    path = str(folder.resolve()) if is_folder else model
    settings = {
        key: _checked(table.get(key, setting.default), setting, f"{where} {key}")
        for key, setting in engine.settings.items()
    }
    engine.check(settings, where)
    if not project.grading.get("ray_address"):  # else it is the cluster that must have it
        engine_finder.require_installed(engine, engine_name)
    if prompt.target == "verify" and "answers_from" not in table:
        raise BadInput(
            f"{where}: the prompt {prompt.name!r} verifies answers, whose?",
            'Name the grader that extracts them: answers_from = "NAME"',
        )
    if prompt.target != "verify" and "answers_from" in table:
        raise BadInput(
            f"{where}: answers_from is for prompts that verify answers; {prompt.name!r} does not"
        )
    own = engine.revision(model, settings)
    revision = table.get("revision") or own
    if revision is None:
        revision = model_revision(path, where) if model else ""
    return Grader(
        name=name,
        engine=engine_name,
        engine_file=engine_file,
        model=folder.resolve().name if is_folder else model,
        model_path=path,
        revision=revision,
        prompt=prompt,
        parser=parser,
        decoding=_decoding(engine, prompt, table.get("decoding", {}), where),
        settings=settings,
        answers_from=answers_from_id,
        label_rubric_id=rubric.rubric_id if rubric else None,
        actors=_positive(table, "actors", where),
        chunk_pairs=_positive(table, "chunk_pairs", where) or engine.chunk_pairs,
    )


def _checked(value: Any, setting: Setting, where: str) -> Any:
    if value is None or value == setting.default:
        return value
    if setting.kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, setting.kind) or (setting.kind is int and isinstance(value, bool)):
        raise BadInput(f"{where}: {value!r} is no {setting.kind.__name__}", setting.meaning)
    return value


def _positive(table: dict, key: str, where: str) -> int | None:
    value = table.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise BadInput(f"{where} {key}: {value!r} is no whole number above 0")
    return value


def _decoding(
    engine: type[Engine], prompt: Prompt, stated: Any, where: str
) -> dict[str, float | int]:
    """Greedy, unless the prompt's paper or the user says otherwise."""
    if not isinstance(stated, dict):
        raise BadInput(f"{where}: decoding must be a table", "decoding = { temperature = 0 }")
    check_keys(stated, DECODING, f"{where}: decoding")
    max_tokens = 1 if prompt.output == "scale" else MAX_TOKENS_OF_TEXT
    if prompt.target in WRITING:
        max_tokens = MAX_TOKENS_OF_JSON
    values = GREEDY | {"max_tokens": max_tokens} | dict(prompt.decoding) | stated
    for key, value in values.items():
        if key not in DECODING:
            raise BadInput(f"{prompt.file}: decoding: {did_you_mean(key, DECODING)}")
        kind, low, high = DECODING[key]
        numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not numeric or not low <= value <= high or (kind is int and value != int(value)):
            raise BadInput(f"{where}: decoding {key}: {value!r} is not between {low} and {high}")
        if engine.decoding is not None and key not in engine.decoding and value:
            raise BadInput(
                f"{where}: this engine has no {key}",
                f"The prompt {prompt.name!r} or `decoding` asks for it; set it to 0 there.",
            )
        values[key] = kind(value)
    if values["temperature"] > 0 and "seed" not in values:
        values["seed"] = 0
    return dict(sorted(values.items()))
