"""A grader: everything that can change a grade, under one hash."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradelake.grading.prompts.neutral import RENDERING
from gradelake.grading.prompts.parsers import PARSERS
from gradelake.grading.prompts.prompt import Prompt
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.hashes import id_of

if TYPE_CHECKING:  # workers, who need no lake, import this
    from gradelake.sql.lake.transaction import Transaction


@dataclass(frozen=True)
class Grader:
    """One `[graders.NAME]` of gradelake.toml, checked (`read_grader`). Sent whole to the worker
    processes."""

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
    settings_for_speed: frozenset[str] = frozenset()  # those that change no grade
    folders: Mapping[str, str] = field(default_factory=dict)  # setting -> NAME@HASH of its folder
    answers_from: str | None = None  # grader_id whose answers are verified
    label_rubric_id: str | None = None  # of the rubric in its prompt
    scores_from: Mapping[str, str] = field(default_factory=dict)  # name in its prompt -> grader_id
    trial: int = 1  # which of several times that it is asked
    trial_of: str | None = None  # grader_id of the first, of trial 2 and later
    actors: int | None = None
    chunk_pairs: int = 320
    in_batches: bool = False  # asks within a day, for less

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What the id is made of; also stored, so that a grade can be traced to all of it."""
        # an engine of the project's own: its code can change a grade
        code = self.engine_file and Path(self.engine_file).read_bytes()
        rubric = {"label_rubric_id": self.label_rubric_id} if self.label_rubric_id else {}
        # what is held to a scale is read as it always was: it is one word
        is_read = self.prompt.output == "text" and self.parser in PARSERS
        reading = {"reading": PARSERS[self.parser].version} if is_read else {}
        # in their order, which the prompt shows
        scores = {"scores_from": list(self.scores_from.items())} if self.scores_from else {}
        trial = {"trial": self.trial, "trial_of": self.trial_of} if self.trial_of else {}
        return {
            "engine": self.engine,
            "engine_sha256": code and hashlib.sha256(code).hexdigest(),
            "model": self.model,
            "model_revision": self.revision,
            "prompt_sha256": self.prompt.sha256,
            "context_first": self.prompt.context_first,
            "parser": self.parser,
            "decoding": dict(self.decoding),
            "settings": {
                key: self.folders.get(key, value)
                for key, value in self.settings.items()
                if key not in self.settings_for_speed
            },
            "rendering": RENDERING,
            "answers_from": self.answers_from,
            **rubric,
            **reading,
            **scores,
            **trial,
        }

    @cached_property
    def grader_id(self) -> str:
        """16 hex digits: any change that can change a grade makes another one."""
        return id_of(self.identity)

    def row(self) -> dict[str, Any]:
        """The grader as `raw.graders` has it, without the time."""
        names: tuple[str, ...] = ("decoding", "settings", "context_first", "rendering")
        names += ("reading", "answers_from", "scores_from", "trial", "trial_of")
        recorded = {key: self.identity[key] for key in names if key in self.identity}
        recorded["items"] = self.prompt.items
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
            "settings": json.dumps(recorded, sort_keys=True),
            "parser": self.parser,
            "label_rubric_id": self.label_rubric_id,
        }

    def register(self, transaction: "Transaction") -> None:
        """Enter it in `raw.graders`, unless it is there."""
        known = "select 1 from lake.raw.graders where grader_id = ?"
        if not transaction.lake.value(known, self.grader_id):
            transaction.insert("graders", [self.row()], created_at=utc_now())
