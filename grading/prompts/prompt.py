"""Prompts: what a model is asked, and how the texts it is asked about are put in."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from gradelake.grading.prompts.neutral import neutralise
from gradelake.grading.prompts.scale import Scale
from gradelake.sql.common.judgment_kinds import WRITING, JudgmentKind, kind_of, kinds_with

SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")  # only `{word}` is one
# how the papers' prompts show a worked example
EXAMPLE = "Passage: {passage}\nQuestion: {query}\nAnswer: {label}"
# slots whose texts may be long: an engine cuts the end of the one a prompt has
LONG = ("passage", "explanations", "passages")
OF_QUERY = ("query", "description", "narrative")  # slots of texts that a topic has


@dataclass(frozen=True, slots=True)
class Rendered:
    """One prompt with its texts put in.

    The passage (or whatever `LONG` slot there is) is kept apart, so that an engine can cut its
    end; without one everything is in `before`. `values` are the texts, neutralised.
    """

    system: str | None
    before: str
    passage: str
    after: str
    values: Mapping[str, str]

    @property
    def text(self) -> str:
        """What the user's message says."""
        return f"{self.before}{self.passage}{self.after}"

    @property
    def n_bytes(self) -> int:
        """How long it is, before anything is cut."""
        return len(f"{self.system or ''}{self.text}".encode(errors="surrogatepass"))


@dataclass(frozen=True)
class Example:
    """A judged pair that a prompt shows; `label` is a word of its scale.

    `collection` is where the pair comes from; empty when that is not known.
    """

    passage: str
    query: str
    label: str
    collection: str = ""

    def shown(self, template: str) -> str:
        """The texts as a prompt shows them: each on one line, made harmless."""
        return SLOT.sub(lambda slot: " ".join(neutralise(getattr(self, slot[1])).split()), template)


@dataclass(frozen=True)
class Prompt:
    """A prompt file, checked. `file` is where it came from.

    `target` says what it asks about: question, nugget, direct, extract, verify, assign, support,
    battle, importance; generate, explain, distil and answer ask for texts. `window` is how many
    items (of `generate`: passages) it asks about at once (None: one each); `together` is the name
    of the prompt that asks about several of its items at once; `max_nuggets`,
    `max_passages` and `importance` (the prompt that then says which nuggets are vital) are of one
    that makes nuggets out of passages. `items` is the kind of rubric item (None where there is
    none). `output` is `scale` when one word of the scale is asked for, `text` for free text.
    `parser` and `scale` are None for prompts that ask for texts. `label_rubrics` is what the slot
    of that name holds, once a grader has filled it; `example` is how a worked example is shown.
    """

    name: str
    version: int
    target: str
    items: str | None
    source: str
    description: str
    system: str | None
    template: str
    scale: Scale | None
    output: str
    parser: str | None
    context_first: bool
    file: Path
    decoding: Mapping[str, float] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    example: str = EXAMPLE
    label_rubrics: str | None = None
    window: int | None = None
    max_nuggets: int | None = None
    max_passages: int | None = None
    importance: "Prompt | None" = None
    together: str | None = None

    @property
    def asks_json(self) -> bool:
        """Whether replies are to be JSON objects, which engines can hold a model to."""
        return self.target in WRITING and self.target != "answer" and self.window is None

    @property
    def judgment_kind(self) -> JudgmentKind:
        """Its kind of judgment. Raises `KeyError` where it asks for no judgment."""
        return kind_of(self.target, self.items)

    @cached_property
    def compares_two(self) -> bool:
        """Whether it shows two answers, of which one is to be told the better."""
        return any(each.verdicts for each in kinds_with(self.target))

    @property
    def wanted_kind(self) -> str:
        """The kind in `marts.wanted_grades` of what it is asked about."""
        return self.judgment_kind.kind

    @property
    def grade_scale(self) -> Scale:
        """The scale of a prompt that asks for grades; one that asks for texts has none."""
        assert self.scale is not None, f"{self.name} asks for texts"
        return self.scale

    @cached_property
    def sha256(self) -> str:
        """Hash of everything that changes what the model reads, or may answer."""
        words = self.scale and list(self.scale.words.items())
        content: list[Any] = [self.system, self.template, self.examples_text, words, self.output]
        if self.label_rubrics is not None:
            content.append(self.label_rubrics)
        if self.window is not None:
            content.append(self.window)
        if self.importance is not None:
            content += [self.max_nuggets, self.max_passages, self.importance.sha256]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    @cached_property
    def examples_text(self) -> str:
        """The worked examples as the model reads them, in the papers' order; empty without any."""
        return "\n\n".join(example.shown(self.example) for example in self.examples)

    @cached_property
    def example_collections(self) -> frozenset[str]:
        """Collections the worked examples come from: judging those would test on what it saw."""
        return frozenset(example.collection for example in self.examples if example.collection)

    @cached_property
    def text(self) -> str:
        """What the model reads, with slots still in the places of a pair's texts."""
        filled = {"examples": self.examples_text, **self._fixed}
        template = SLOT.sub(lambda slot: filled.get(slot[1], slot[0]), self.template)
        also = self.importance.text if self.importance else None
        return "\n\n".join(filter(None, (self.system, template, also)))

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """The slots to be filled, each once, in the order of the template."""
        found = dict.fromkeys(SLOT.findall(self.template))
        return tuple(slot for slot in found if slot not in ("examples", *self._fixed))

    @property
    def topic_slots(self) -> list[str]:
        """The slots whose text not every topic has."""
        return [slot for slot in OF_QUERY[1:] if slot in self.slots]

    @cached_property
    def _fixed(self) -> dict[str, str]:
        """Texts that are the same in every prompt of a grader. They are put in as the others are,
        because models wrote them: an engine breaks its own special tokens in them too."""
        if self.max_nuggets is not None:
            return {"max_nuggets": str(self.max_nuggets)}
        if self.label_rubrics is None:
            return {}
        return {"label_rubrics": neutralise(self.label_rubrics)}

    @cached_property
    def n_bytes(self) -> int:
        """How long it is before the texts of a pair are put in."""
        return self.render(dict.fromkeys(self.slots, "")).n_bytes

    @property
    def frame(self) -> Rendered:
        """The prompt with nothing in its slots."""
        return self.render(dict.fromkeys((*self.slots, *self._fixed), ""))

    def render(self, values: Mapping[str, str]) -> Rendered:
        """Put the values into the template, in one pass and made harmless.

        All `slots` must be among the values; others are only passed on. Raises `KeyError`.
        """
        clean = self._fixed | {name: neutralise(value) for name, value in values.items()}
        before, before_slots, long, after, after_slots = self._plan
        return Rendered(
            self.system,
            before % tuple([clean[slot] for slot in before_slots]),
            clean[long] if long else "",
            after % tuple([clean[slot] for slot in after_slots]),
            clean,
        )

    @cached_property
    def _plan(self) -> tuple[str, tuple[str, ...], str | None, str, tuple[str, ...]]:
        """The template around its long slot, as two printf formats and the slots of each."""
        formats, side = ["", ""], 0
        slots: tuple[list[str], list[str]] = ([], [])
        long: str | None = None
        parts = SLOT.split(self.template)  # a literal, the slot after it, and so on
        for literal, slot in zip(parts[::2], [*parts[1::2], None], strict=True):
            formats[side] += literal.replace("%", "%%")
            if slot in LONG and long is None:
                side, long = 1, slot
            elif slot == "examples":
                formats[side] += self.examples_text.replace("%", "%%")
            elif slot:
                formats[side] += "%s"
                slots[side].append(slot)
        return formats[0], tuple(slots[0]), long, formats[1], tuple(slots[1])
