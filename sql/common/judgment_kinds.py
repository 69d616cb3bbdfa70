"""The kinds of judgment, as the files of grading/kinds say them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parents[2] / "grading" / "kinds"
# targets of prompts that ask for a text to be used, not for a grade
WRITING = ("generate", "explain", "distil", "answer")
ROW = (
    "kind",
    "target",
    "also",
    "items",
    "item_kind",
    "texts",
    "label_sets",
    "measures",
    "averaged_over",
    "only_with",
)


@dataclass(frozen=True, kw_only=True)
class JudgmentKind:
    """What judges are asked about, and what their grades come to: one file of grading/kinds, whose
    README says what each key is."""

    kind: str
    says: str
    target: str
    slots: tuple[str, ...]
    items: str
    texts: str
    words: Mapping[str, str]
    also: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    item_kind: str | None = None
    needs: Mapping[str, str] = field(default_factory=dict)
    verdicts: tuple[str, ...] = ()
    label_sets: str | None = None
    measures: str | None = None
    averaged_over: str | None = None
    only_with: str | None = None

    @property
    def row(self) -> list[str]:
        """Its row in the seed `judgment_kinds`, which dbt reads."""
        cells = (getattr(self, name) for name in ROW)
        return [" ".join(cell) if isinstance(cell, tuple) else cell or "" for cell in cells]

    @property
    def is_drawn(self) -> bool:
        """Whether each item is asked about texts of its own, and not about all of a query."""
        return self.texts in ("citations", "battles")

    @property
    def shows_topic(self) -> bool:
        """Whether who judges needs what is said beside the query: there is no item, or it is a
        conversation."""
        return self.items == "queries" or self.only_with is not None

    @property
    def is_of_passages(self) -> bool:
        return self.texts == "pool"


@cache
def judgment_kinds() -> dict[str, JudgmentKind]:
    """All kinds by name, in the order of their names."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return {
        file.stem: _read(file.stem, yaml.load(file.read_text(encoding="utf-8"), loader))
        for file in sorted(FOLDER.glob("*.yaml"))
    }


def _read(kind: str, stated: dict[str, Any]) -> JudgmentKind:
    values: dict[str, Any] = {
        key: tuple(each) if isinstance(each, list) else each for key, each in stated.items()
    }
    return JudgmentKind(kind=kind, **values)


def targets() -> list[str]:
    """The targets of all prompts whose grades, or texts, the lake keeps."""
    judging = [target for each in judgment_kinds().values() for target in (each.target, *each.also)]
    return [*dict.fromkeys(judging), *WRITING]


def kind_of(target: str, items: str | None) -> JudgmentKind:
    """What a prompt with this target, which asks about these items, asks about. Raises `KeyError`
    for one that asks for no judgment."""
    for each in judgment_kinds().values():
        if target in (each.target, *each.also) and each.item_kind in (None, items):
            return each
    raise KeyError(target)


def items_of(target: str) -> list[str]:
    """The rubric items that prompts with this target may ask about by themselves."""
    return [each.item_kind for each in kinds_with(target) if each.item_kind]


def kinds_with(target: str) -> list[JudgmentKind]:
    """The kinds that prompts with this target ask about by themselves."""
    return [each for each in judgment_kinds().values() if each.target == target]
