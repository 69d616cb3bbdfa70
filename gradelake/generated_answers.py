"""Systems that are written here: a model answers each query of a collection with a prompt.

RUBRIC (Farzi and Dietz, ICTIR 2024, section 6.4) has systems of this kind: what a model writes as
an encyclopedia, as a web page, and as an answer. The answers land as those of a file do.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from gradelake.grading.ask.entry import Asked
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.generate.asking import Generated
from gradelake.grading.generate.writers import batches_of
from gradelake.grading.generate.writing import Target, WritingPlan, WritingRequest, Written
from gradelake.grading.graders.configured import writing
from gradelake.grading.plan import prices
from gradelake.grading.plan.planner import ensure_views
from gradelake.grading.run.spending import Spending
from gradelake.ingest.collections import targets
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.responses import Response
from gradelake.ingest.collections.system_names import generated_of
from gradelake.ingest.collections.systems import enter, entries_of, write_answers
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.hashes import text_sha256
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import Transaction


@dataclass(frozen=True)
class AnswersRequest(WritingRequest):
    max_cost: float | None = None  # in the currency of seeds/prices.csv
    kind: ClassVar = "system"
    what: ClassVar = "answers"


@dataclass
class WrittenAnswers(Written):
    """`cost` is None where the model has no price."""

    cost: float | None = None
    currency: str | None = None

    def as_object(self) -> dict[str, Any]:
        return super().as_object() | {
            "retried": [{"query_id": one.query_id, "tries": one.tries} for one in self.remarkable],
            "cost": self.cost,
            "currency": self.currency,
            "out_of_money": self.out_of_money,
        }


class WrittenSystem(Target):
    def __init__(self, lake: Lake, request: AnswersRequest):
        super().__init__(lake, request)
        self.settings = Collection.named(lake.project, request.collection)
        self.target = generated_of(request.collection, request.name)

    def done(self) -> set[tuple[str, str]]:
        return set(
            self.lake.rows(
                "select query_id, '' from lake.raw.answers where collection = ? and system = ?",
                self.request.collection,
                self.request.name,
            )
        )

    def refuse_foreign(self) -> None:
        of_system = self.request.collection, self.request.name
        where = "from lake.raw.systems where collection = ? and system = ?"
        source = self.lake.value(f"select min(source_file) {where}", *of_system)
        query = "select sha256 from lake.raw.ledger where target = ?"
        by = self.lake.value(query, self.target)
        if source and not by:
            raise BadInput(
                f"{of_system[0]} has a system {of_system[1]!r} from {source}",
                "It is left as it is. Choose another --system.",
            )
        if by and by != self.request.grader.grader_id:
            raise BadInput(
                f"the system {of_system[1]!r} of {of_system[0]} was written by another grader: "
                f"{by}; this one is {self.request.grader.grader_id}",
                "A changed prompt, model or setting makes another grader. Choose another --system, "
                f"or remove that one: gradelake system remove {of_system[0]} {of_system[1]}",
            )

    def write(self, commit: Transaction, found: list[Generated], outcome: Any) -> None:
        """Add answers to those that the system has."""
        system, grader = self.request.name, self.request.grader
        commit.say(answers=len(found))
        if not found:
            return
        into = targets.Targets(commit, self.settings, targets.Ingested(self.request.collection))
        answers = [Response(system, one.query_id, one.items, 0) for one in found]
        n_answers = len(self.done()) + len(answers)
        entries = entries_of(answers)
        into.insert("run_entries", entries, system=system)
        had = "select n_rows from lake.raw.systems where collection = ? and system = ?"
        n_rows = (self.lake.value(had, into.name, system) or 0) + entries.height
        commit.delete("systems", collection=into.name, system=system)
        source = f"gradelake generate answers --grader {grader.name}"
        enter(into, "generation", [(system, source, text_sha256(grader.grader_id), n_rows)])
        write_answers(into, system, answers)
        commit.record(self.target, grader.grader_id, n_answers)


def request_of(
    project: Project, grader_name: str, system: str | None, **asked: Any
) -> AnswersRequest:
    """What the options of `gradelake generate answers COLLECTION` ask for."""
    grader = writing(project, grader_name, "answer")
    return AnswersRequest(grader=grader, name=system or grader_name, **asked)


def plan(lake: Lake, request: AnswersRequest) -> WritingPlan:
    """What is to be done. Raises `BadInput` for a request that cannot be met."""
    return WritingPlan(*WrittenSystem(lake, request).facts())


def generate(project: Project, request: AnswersRequest, arguments: list[str]) -> WrittenAnswers:
    """Write answers to the queries of a collection that have none of this system.

    What is finished is committed at once, so that a run that was stopped or killed goes on where
    it was; nothing is begun that could bring its cost above `max_cost`. Raises `BadInput` for a
    request that cannot be met, and `WorkFailed` when the engine cannot work, or when another
    process is at work with this grader; what was committed stays.
    """
    grader, about = request.grader, Asked(request.collection, "generate")
    with ReplyLog.of_run(project, grader, about) as log:
        lake = log.lake
        system = WrittenSystem(lake, request)
        written = WrittenAnswers(*system.facts())
        ensure_views(lake, (prices.VIEW,))
        price = prices.price_of(lake, grader, keeps_limit=request.max_cost is not None)
        batches = batches_of([(topic.name, topic.texts) for topic in written.to_ask])
        limit = math.inf if request.max_cost is None else request.max_cost
        spending = Spending(price, limit, grader, batches) if price else None
        if written.to_ask:
            system.run(log, written, batches, arguments, spending)
        if spending:
            written.cost, written.currency = round(spending.spent, 10), spending.price.currency
            written.out_of_money = spending.is_over
    return written
