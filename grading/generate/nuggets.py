"""Nuggets out of passages, as nuggetizer makes them: a list goes from window to window of passages,
then each nugget is said to be vital or okay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from gradelake.grading.ask.recorder import Asking
from gradelake.grading.generate.asking import Generated, ask, decoding_of
from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.label_list import as_list, numbered
from gradelake.grading.prompts.prompt import OF_QUERY
from gradelake.grading.prompts.reply import Reading
from gradelake.grading.prompts.written_reply import Items
from gradelake.grading.run.attempts import TRIES, ask_windows, score_with_retries

VITAL, OKAY = 1.0, 0.5  # weights, as an imported bank has them
Passages = Sequence[tuple[str, str]]  # passage_id, text
Query = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Nuggets(Items):
    """Nuggets of one query. `weights` and `passage_ids` have an entry for each text, in order: how
    important it is, and the passages of the window whose reply named it first."""

    weights: tuple[float, ...] = ()
    passage_ids: tuple[tuple[str, ...], ...] = ()


@dataclass
class _Draft:
    """The list of one query on its way; `last` is how its last reply was read."""

    slots: Mapping[str, str]  # texts of the query, by their slots
    passages: Passages
    last: Generated
    brought_by: dict[str, tuple[str, ...]] = field(default_factory=dict)
    importance: dict[str, Reading] = field(default_factory=dict)  # by nugget

    @property
    def texts(self) -> tuple[str, ...]:
        return self.last.items.texts if self.last.items else ()

    def take(self, reply: Generated, passage_ids: tuple[str, ...]) -> None:
        """Note what became of a window; what was odd about earlier ones is kept."""
        before = self.last
        if reply.items and (old := before.items):
            names = ("duplicates", "empty", "unusable", "beyond")
            dropped = {name: getattr(old, name) + getattr(reply.items, name) for name in names}
            reply = replace(reply, items=replace(reply.items, **dropped))
        self.last = replace(
            reply,
            tries=max(before.tries, reply.tries),
            decoding=before.decoding if before.tries > reply.tries else reply.decoding,
            cut_characters=before.cut_characters + reply.cut_characters,
        )
        for text in self.texts:
            self.brought_by.setdefault(text, passage_ids)

    def made(self) -> Generated:
        """The query with its `Nuggets`; without any where the importance of one was not told."""
        if self.last.items is None:
            return self.last
        for text in self.texts:
            if (reading := self.importance[text]).status == "failed":
                why = f"how important {text!r:.80} is was not told: {reading.error}"
                return replace(self.last, items=None, error=why)
        items = Nuggets(
            **vars(self.last.items),
            weights=tuple(VITAL if self.importance[text].grade else OKAY for text in self.texts),
            passage_ids=tuple(self.brought_by[text] for text in self.texts),
        )
        return replace(self.last, items=items)


def create(grader: Grader, engine: Asking, queries: Sequence[Query]) -> list[Generated]:
    """The `Nuggets` of every query, in order; of its values are `query` and `passages`.

    Queries go side by side from window to window. One whose list cannot be read, or of which a
    nugget's importance is not told, has no items but the reason: nothing is guessed.
    """
    size = grader.prompt.window or 1
    drafts = {
        name: _Draft(
            {slot: values[slot] for slot in ("query_id", *OF_QUERY)},
            values["passages"],
            Generated(name, None, None, 0, {}),
        )
        for name, values in queries
    }
    for start in range(0, max(len(draft.passages) for draft in drafts.values()), size):
        windows = {
            name: draft.passages[start : start + size]
            for name, draft in drafts.items()
            if len(draft.passages) > start and draft.last.error is None
        }
        asked = []
        for name, window in windows.items():
            texts, passages = drafts[name].texts, numbered(text for _, text in window)
            values = {**drafts[name].slots, "passages": passages}
            values |= {"items": as_list(texts), "n_items": str(len(texts))}
            asked.append((name, values))
        for reply in ask(grader, engine, asked) if asked else ():
            ids = tuple(passage_id for passage_id, _ in windows[reply.query_id])
            drafts[reply.query_id].take(reply, ids)
    assert grader.prompt.importance is not None
    judge = replace(grader, prompt=grader.prompt.importance)
    engine.set_prompt(judge.prompt)
    _ask_importance(judge, engine, [draft for draft in drafts.values() if draft.last.items])
    return [draft.made() for draft in drafts.values()]


def _ask_importance(judge: Grader, engine: Asking, drafts: list[_Draft]) -> None:
    """Note the importance of each nugget; asked again, in another way, where no reply holds it."""
    pending = [(draft, text) for draft in drafts for text in draft.texts]
    for attempt in range(TRIES):
        if not pending:
            return
        decoding = decoding_of(judge, attempt)
        engine.set_decoding(decoding)
        prompts = [  # nuggets of one query, which `passage` tells apart, share windows
            {**draft.slots, "passage": draft.last.query_id, "item": text} for draft, text in pending
        ]
        answers = ask_windows(judge, partial(score_with_retries, engine.score), prompts)
        for (draft, text), (reading, _) in zip(pending, answers, strict=True):
            draft.importance[text] = reading
            if attempt >= draft.last.tries:
                draft.last = replace(draft.last, tries=attempt + 1, decoding=decoding)
        pending = [one for one in pending if one[0].importance[one[1]].status == "failed"]
