"""What `[graders.NAME]` of gradelake.toml may hold."""

from typing import Any

from pydantic import Field, create_model

from gradelake.grading.engines import Engine
from gradelake.grading.prompts.decoding import Decoding
from gradelake.sql.common import checked
from gradelake.sql.common.checked import Checked, Count, Text
from gradelake.sql.common.project import Project

_OF_ENGINE = "of_engine_"  # keeps an engine's settings apart from what pydantic calls its own


class GraderSettings(Checked):
    """Settings of every grader; engines add their own."""

    engine: Text
    model: str = ""
    revision: str | None = None
    prompt: Text
    parser: str | None = None
    decoding: Decoding = Field(
        Decoding(), description="For example: decoding = { temperature = 0 }."
    )
    actors: Count | None = None
    chunk_pairs: Count | None = None
    answers_from: str | None = Field(None, description='For example: answers_from = "NAME".')
    examples: str | None = Field(None, description='For example: examples = "few.jsonl".')
    label_rubrics: str | None = Field(None, description='For example: label_rubrics = "NAME".')


def read_settings(
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
