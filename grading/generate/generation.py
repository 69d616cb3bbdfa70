"""Makes a rubric bank with a model: asks about queries, or facets of them, that have no items, and
commits batch by batch."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from gradelake.grading.ask.entry import Asked
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.generate.asking import Generated
from gradelake.grading.generate.generation_bank import Bank, GenerationRequest, ids_of
from gradelake.grading.generate.writers import QueryBatch, WritingRun, writers
from gradelake.grading.prompts.label_list import as_list
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

_ODD = ("duplicates", "empty", "unusable", "long_nuggets", "beyond")  # of `Items`
BATCH = 16  # queries that are asked about, and committed, together

NO_SUBTOPIC = (
    "the prompt asks about a subtopic, and the query has no subtopics and no description to take "
    "it from"
)
_INSTEAD = {
    False: "Take a prompt without {subtopic}, or bring in topics with subtopics.",
    True: "Judge some, take a lower --level, or the labels of a --label-set.",
}


@dataclass
class Plan:
    """What there is to ask; counts are of queries, or of facets, as `noun` says."""

    request: GenerationRequest
    asked_for: int
    had_items: int
    planned: int  # without items, within --limit
    noun: str

    def as_object(self) -> dict[str, Any]:
        left = self.asked_for - self.had_items
        return self.about() | {"left": left, "planned": self.planned}

    def about(self) -> dict[str, Any]:
        return {
            "collection": self.request.collection,
            "bank": self.request.bank,
            "grader": self.request.grader.name,
            "grader_id": self.request.grader.grader_id,
            "queries": self.asked_for,
            "asks_about": self.noun,
        }


@dataclass
class Outcome(WritingRun, Plan):
    written: int = 0
    n_items: int = 0
    failed: dict[str, str] = field(default_factory=dict)  # name of a topic -> why
    remarkable: list[Generated] = field(default_factory=list)  # retried, or something dropped

    @property
    def left(self) -> int:
        """Planned ones that were not asked about."""
        return self.planned - self.written - len(self.failed)

    def progress(self) -> str:
        done = self.planned - self.left
        failed = f", {len(self.failed):,} failed" if self.failed else ""
        return f"{done:,} of {self.planned:,} {self.noun}, {self.n_items:,} items{failed}"

    @property
    def exit_code(self) -> int:
        """0 done, 3 some got no items, 130 stopped by the user."""
        if self.stopped and self.left:
            return 130
        return 3 if self.failed else 0

    def as_object(self) -> dict[str, Any]:
        return self.about() | {
            "had_items": self.had_items,
            "planned": self.planned,
            "written": self.written,
            "items": self.n_items,
            "left": self.left,
            "failed": [_ids(name) | {"reason": why} for name, why in self.failed.items()],
            "remarkable": [
                _ids(one.query_id)
                | {"tries": one.tries, "decoding": dict(one.decoding)}
                | {name: getattr(one.items, name) for name in _ODD}
                | {"cut_characters": one.cut_characters}
                for one in self.remarkable
            ],
            **self.run_facts(),
        }


def _ids(name: str) -> dict[str, str]:
    query_id, facet_id = ids_of(name)
    return {"query_id": query_id} | ({"facet_id": facet_id} if facet_id else {})


def plan(lake: Lake, request: GenerationRequest) -> Plan:
    """What is to be done. Raises `BadInput` for a request that cannot be met."""
    return Plan(*Bank(lake, request).facts)


def generate(project: Project, request: GenerationRequest, arguments: list[str]) -> Outcome:
    """Write items for the queries of a collection that have none in the bank.

    What is finished is committed at once, so that a run that was stopped or killed goes on where
    it was. Raises `BadInput` for a request that cannot be met, and `WorkFailed` when the engine
    cannot work, or when another process is at work with this grader; what was committed stays.
    """
    about = Asked(request.collection, "generate")
    with ReplyLog.of_run(project, request.grader, about) as log:
        bank = Bank(log.lake, request)
        outcome = Outcome(*bank.facts)
        if able := _able(bank, outcome):
            with writers(log, outcome) as crew:
                for generated in crew.ask(_batches(bank, able)):
                    n_items = bank.commit(generated, arguments, outcome.notes, log)
                    _add(outcome, generated, n_items)
    return outcome


def _able(bank: Bank, outcome: Outcome) -> list[tuple[str, dict[str, Any]]]:
    """(name, values) of the topics that can be asked about, for passages their ids; the others
    fail, and all of them stop the run."""
    able: list[tuple[str, dict[str, Any]]] = []
    relevant, passage_ids = bank.passages, bank.passage_ids
    for topic in bank.to_ask:
        if relevant and topic.query_id not in passage_ids:
            outcome.failed[topic.name] = f"no passage {relevant}"
        elif relevant:
            able.append((topic.name, topic.texts | {"passages": passage_ids[topic.query_id]}))
        elif "items" in bank.request.grader.prompt.slots and topic.query_id not in bank.nuggets:
            outcome.failed[topic.name] = "no nuggets, which criteria are made of"
        elif bank.request.by_facet and not topic.subtopic:
            outcome.failed[topic.name] = NO_SUBTOPIC
        else:
            values = topic.texts | {"subtopic": topic.subtopic}
            able.append((topic.name, values | {"items": as_list(bank.nuggets.get(topic.name, ()))}))
    if outcome.failed and not able:
        first = ", ".join(list(outcome.failed)[:5])
        raise BadInput(f"{next(iter(outcome.failed.values()))}: {first}", _INSTEAD[bool(relevant)])
    return able


def _batches(bank: Bank, able: list[tuple[str, dict[str, Any]]]) -> Iterator[QueryBatch]:
    """What is asked together; the texts of passages are read no earlier."""
    for start in range(0, len(able), BATCH):
        queries = able[start : start + BATCH]
        if bank.passages:
            texts = bank.passages.texts(bank.lake, {i for _, q in queries for i in q["passages"]})
            queries = [
                (name, values | {"passages": tuple((i, texts[i]) for i in values["passages"])})
                for name, values in queries
            ]
        yield QueryBatch(f"{start:08d}", tuple(queries))


def _add(outcome: Outcome, generated: list[Generated], n_items: int) -> None:
    outcome.n_items += n_items
    for one in generated:
        if one.items is None:
            outcome.failed[one.query_id] = one.error or "no reason was given"
            continue
        outcome.written += 1
        is_odd = any(getattr(one.items, name) for name in _ODD)
        if one.tries > 1 or is_odd or one.cut_characters:
            outcome.remarkable.append(one)
