"""Makes a rubric bank with a model: asks about queries, or facets of them, that have no items, and
commits batch by batch."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from gradelake.grading.ask.entry import Asked
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.generate.asking import Generated
from gradelake.grading.generate.generation_bank import Bank, GenerationRequest
from gradelake.grading.generate.writers import QueryBatch, batches_of
from gradelake.grading.generate.writing import WritingPlan, Written, told
from gradelake.grading.graders.configured import writing
from gradelake.grading.prompts.label_list import as_list
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

_ODD = ("duplicates", "empty", "unusable", "long_nuggets", "beyond")  # of `Items`

NO_SUBTOPIC = (
    "the prompt asks about a subtopic, and the query has no subtopics and no description to take "
    "it from"
)
_INSTEAD = {
    False: "Take a prompt without {subtopic}, or bring in topics with subtopics.",
    True: "Judge some, take a lower --level, or the labels of a --label-set.",
}


@dataclass
class WrittenItems(Written):
    """`remarkable` ones were retried, or something of theirs was dropped."""

    n_items: int = 0

    def progress(self) -> str:
        return f"{super().progress()}, {self.n_items:,} items"

    def is_remarkable(self, generated: Generated) -> bool:
        is_odd = any(getattr(generated.items, name) for name in _ODD)
        return super().is_remarkable(generated) or is_odd or bool(generated.cut_characters)

    def as_object(self) -> dict[str, Any]:
        return super().as_object() | {
            "items": self.n_items,
            "remarkable": [
                told(one.query_id)
                | {"tries": one.tries, "decoding": dict(one.decoding)}
                | {name: getattr(one.items, name) for name in _ODD}
                | {"cut_characters": one.cut_characters}
                for one in self.remarkable
            ],
        }


def request_of(
    project: Project, grader_name: str, method: str | None, bank: str | None, **asked: Any
) -> GenerationRequest:
    """What the options of `gradelake generate COLLECTION` ask for."""
    grader = writing(project, grader_name, "generate")
    request = GenerationRequest(grader=grader, name=bank or grader_name, **asked)
    options = {"--method": method, "--label-set": request.label_set, "--level": request.level}
    stated = [option for option, value in options.items() if value is not None]
    if stated and not request.out_of_passages:
        raise BadInput(
            f"{stated[0]}: the prompt {grader.prompt.name!r} of {grader.name!r} reads no passages",
            'Give the grader a prompt that does: prompt = "nuggetizer_create"',
        )
    return request


def plan(lake: Lake, request: GenerationRequest) -> WritingPlan:
    """What is to be done. Raises `BadInput` for a request that cannot be met."""
    return WritingPlan(*Bank(lake, request).facts())


def generate(project: Project, request: GenerationRequest, arguments: list[str]) -> WrittenItems:
    """Write items for the queries of a collection that have none in the bank.

    What is finished is committed at once, so that a run that was stopped or killed goes on where
    it was. Raises `BadInput` for a request that cannot be met, and `WorkFailed` when the engine
    cannot work, or when another process is at work with this grader; what was committed stays.
    """
    about = Asked(request.collection, "generate")
    with ReplyLog.of_run(project, request.grader, about) as log:
        bank = Bank(log.lake, request)
        outcome = WrittenItems(*bank.facts())
        if able := _able(bank, outcome):
            bank.run(log, outcome, _batches(bank, able), arguments)
    return outcome


def _able(bank: Bank, outcome: WrittenItems) -> list[tuple[str, dict[str, Any]]]:
    """(name, values) of the topics that can be asked about, for passages their ids; the others
    fail, and all of them stop the run."""
    able: list[tuple[str, dict[str, Any]]] = []
    relevant, passage_ids = bank.passages, bank.passage_ids
    for topic in outcome.to_ask:
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
    for batch in batches_of(able):
        if bank.passages:
            ids = {i for _, values in batch.queries for i in values["passages"]}
            texts = bank.passages.texts(bank.lake, ids)
            queries = [
                (name, {**values, "passages": tuple((i, texts[i]) for i in values["passages"])})
                for name, values in batch.queries
            ]
            batch = replace(batch, queries=tuple(queries))
        yield batch
