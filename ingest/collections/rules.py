"""A track's rules for answers, `[collections.NAME.rules]` of gradelake.toml, and what breaks them.

They say whether an answer may take part, not whether it can be read: what breaks one is told, and
lands all the same unless `enforce` says otherwise.
"""

from collections import Counter
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from gradelake.sql.common import console
from gradelake.sql.common.checked import Checked, Count, Text, one_of
from gradelake.sql.common.problems import Problem, named

_2025 = {"max_words": 400, "max_citations": 3, "metadata": ["team_id", "run_id"]}
# of each track what is known that it says
PRESETS: dict[str, dict[str, Any]] = {
    "trec-rag-2024": {"max_words": 400, "metadata": ["run_id", "topic_id", "topic"]},
    "trec-rag-2025": _2025,
    "trec-rag-2026": {"all_topics": True, "max_words": 1024, "max_citations": 3}
    | {"metadata": ["team_id", "narrative_id", "narrative", "run_id", "run_desc"]}
    | {"exact_narratives": True},
    "ragtime": {"all_topics": True, "topic_limit": True, "max_citations": 3}
    | {"metadata": ["team_id", "run_id", "topic_id"]},
}
_AS_TUPLE = BeforeValidator(lambda stated: tuple(stated) if type(stated) is list else stated)


class Rules(Checked):
    """What `[collections.NAME.rules]` may hold."""

    preset: Annotated[str, one_of(PRESETS)] | None = None
    enforce: bool = False
    all_topics: bool = False
    max_words: Count | None = None
    topic_limit: bool = False
    max_citations: Annotated[int, Field(ge=0)] | None = None
    max_references: Count | None = None
    known_ids: bool = False
    metadata: Annotated[tuple[Text, ...], _AS_TUPLE] = Field(
        (), description='For example: metadata = ["team_id", "run_desc"].'
    )
    exact_narratives: bool = False

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, stated: Any) -> Any:
        """What is stated beside a preset takes the place of what it says."""
        name = stated.get("preset") if isinstance(stated, dict) else None
        return PRESETS.get(name, {}) | stated if isinstance(name, str) else stated


class Broken(NamedTuple):
    """A rule that a system's answers break; no `query_id`: it is about all of them."""

    file: str
    line: int | None
    system: str
    query_id: str | None
    rule: str
    message: str


def print_broken(broken: list[Broken], most: int) -> None:
    """What breaks rules, a line each; of a file at most so many, and how many more."""
    shown: Counter[str] = Counter()
    for each in broken:
        shown[each.file] += 1
        if shown[each.file] <= most:
            console.warn(str(Problem(each.file, each.line, each.message)))
    for file, n in shown.items():
        if n > most:
            more = f"and {n - most:,} more like these; gradelake check has all"
            console.warn(f"{named(file)}: {more}")
