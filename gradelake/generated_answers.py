"""Systems that are written here: a model answers each query of a collection with a prompt.

RUBRIC (Farzi and Dietz, ICTIR 2024, section 6.4) has systems of this kind: what a model writes as
an encyclopedia, as a web page, and as an answer. The answers land as those of a file do.
"""

import hashlib
import math
from dataclasses import dataclass, field
from typing import Any

from gradelake.grading.ask.entry import Asked
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.generate.asking import Generated
from gradelake.grading.generate.generation import BATCH
from gradelake.grading.generate.writers import QueryBatch, WritingRun, writers
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan import prices
from gradelake.grading.plan.planner import check_queries, check_slots, ensure_views
from gradelake.grading.run.spending import Spending
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.responses import Response
from gradelake.ingest.collections.system_names import generated_of
from gradelake.ingest.collections.systems import entries_of, write_answers
from gradelake.ingest.collections.targets import Outcome, Targets
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, check_name
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import frame_of


@dataclass(frozen=True)
class AnswersRequest:
    collection: str
    grader: Grader
    system: str
    query_ids: tuple[str, ...] | None = None  # None: all
    limit: int | None = None  # queries; None: all
    max_cost: float | None = None  # in the currency of seeds/prices.csv


@dataclass
class AnswersPlan:
    """What there is to ask."""

    request: AnswersRequest
    asked_for: int
    had_answers: int
    planned: int  # without an answer, within --limit

    def as_object(self) -> dict[str, Any]:
        left = self.asked_for - self.had_answers
        return self.about() | {"left": left, "planned": self.planned}

    def about(self) -> dict[str, Any]:
        return {
            "collection": self.request.collection,
            "system": self.request.system,
            "grader": self.request.grader.name,
            "grader_id": self.request.grader.grader_id,
            "queries": self.asked_for,
        }


@dataclass
class Written(WritingRun, AnswersPlan):
    """What a run wrote; `cost` is None where the model has no price."""

    written: int = 0
    failed: dict[str, str] = field(default_factory=dict)  # query -> why
    retried: list[Generated] = field(default_factory=list)
    cost: float | None = None
    currency: str | None = None
    out_of_money: bool = False

    @property
    def left(self) -> int:
        """Planned ones that were not asked about."""
        return self.planned - self.written - len(self.failed)

    def progress(self) -> str:
        failed = f", {len(self.failed):,} failed" if self.failed else ""
        return f"{self.planned - self.left:,} of {self.planned:,} queries{failed}"

    @property
    def exit_code(self) -> int:
        """0 done, 3 some queries have no answer, 130 stopped by the user."""
        if self.stopped and self.left:
            return 130
        return 3 if self.failed or self.out_of_money else 0

    def as_object(self) -> dict[str, Any]:
        return self.about() | {
            "had_answers": self.had_answers,
            "planned": self.planned,
            "written": self.written,
            "left": self.left,
            "failed": [{"query_id": query, "reason": why} for query, why in self.failed.items()],
            "retried": [{"query_id": one.query_id, "tries": one.tries} for one in self.retried],
            "cost": self.cost,
            "currency": self.currency,
            "out_of_money": self.out_of_money,
            **self.run_facts(),
        }


class WrittenSystem:
    """A system on an open lake that one grader writes, and no other."""

    def __init__(self, lake: Lake, request: AnswersRequest):
        """Raises `BadInput` for an unknown collection or query, and for a system that came from
        elsewhere, or that another grader wrote."""
        check_name(request.system, "--system")
        check_queries(lake, request.collection, request.query_ids)
        check_slots(lake, request.collection, request.grader.prompt)
        self.lake, self.request = lake, request
        self.settings = Collection.named(lake.project, request.collection)
        self.target = generated_of(request.collection, request.system)
        self._refuse_foreign()
        wanted = lake.rows(
            """
            select
                query_id,
                {
                    'query_id': query_id,
                    'query': text,
                    'description': coalesce(description, ''),
                    'narrative': coalesce(narrative, '')
                }
            from lake.raw.queries
            where collection = $1 and ($2::varchar[] is null or list_contains($2, query_id))
            order by query_id
            """,
            request.collection,
            list(request.query_ids) if request.query_ids else None,
        )
        done = self._answered()
        left = [(query_id, values) for query_id, values in wanted if query_id not in done]
        self.to_ask = left[: request.limit]
        self.facts = request, len(wanted), len(wanted) - len(left), len(self.to_ask)

    def _answered(self) -> set[str]:
        return {
            *self.lake.column(
                "select query_id from lake.raw.answers where collection = ? and system = ?",
                self.request.collection,
                self.request.system,
            )
        }

    def _refuse_foreign(self) -> None:
        of_system = self.request.collection, self.request.system
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

    def commit(
        self, generated: list[Generated], arguments: list[str], notes: list[str], log: ReplyLog
    ) -> None:
        """Take the answers to a few queries into the lake, all at once; of queries without one the
        account of the run has the reason."""
        request = self.request
        about = f"{request.collection} {request.grader.name}"
        with self.lake.transaction("generate", about) as commit:
            self._refuse_foreign()
            done = self._answered()
            answers = [
                Response(request.system, one.query_id, one.items, 0)
                for one in generated
                if one.items and one.query_id not in done
            ]
            failed = [one for one in generated if not one.items]
            if answers:
                request.grader.register(commit)
                self._write(Targets(commit, self.settings, Outcome(request.collection)), answers)
                n_answers = len(done) + len(answers)
                commit.record(self.target, request.grader.grader_id, n_answers)
            commit.say(answers=len(answers), failed_queries=len(failed))
            commit.extra |= {"system": request.system, "grader_id": request.grader.grader_id}
            if notes:
                commit.extra["notes"] = notes
            why = "; ".join(f"query {one.query_id}: {one.error}" for one in failed)
            log.commit(commit)
            commit.finish_run(arguments, "done" if answers or not failed else "failed", why or None)
        log.committed()

    def _write(self, into: Targets, answers: list[Response]) -> None:
        """Add answers to those that the system has."""
        system, grader = self.request.system, self.request.grader
        entries = entries_of(answers)
        into.transaction.insert("run_entries", into.own(entries, system=system))
        had = "select n_rows from lake.raw.systems where collection = ? and system = ?"
        n_rows = (into.transaction.lake.value(had, into.name, system) or 0) + entries.height
        into.transaction.delete("systems", collection=into.name, system=system)
        made = {
            "kind": "generation",
            "source_file": f"gradelake generate answers --grader {grader.name}",
            "file_sha256": hashlib.sha256(grader.grader_id.encode()).hexdigest(),
            "ingested_at": utc_now(),
        }
        row = frame_of("systems", ("system", "n_rows"), [(system, n_rows)])
        into.transaction.insert("systems", into.own(row, **made))
        write_answers(into, system, answers)


def plan(lake: Lake, request: AnswersRequest) -> AnswersPlan:
    """What is to be done. Raises `BadInput` for a request that cannot be met."""
    return AnswersPlan(*WrittenSystem(lake, request).facts)


def generate(project: Project, request: AnswersRequest, arguments: list[str]) -> Written:
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
        written = Written(*system.facts)
        ensure_views(lake, (prices.VIEW,))
        price = prices.price_of(lake, grader, keeps_limit=request.max_cost is not None)
        batches = (
            QueryBatch(f"{n:08d}", tuple(system.to_ask[n : n + BATCH]))
            for n in range(0, len(system.to_ask), BATCH)
        )
        limit = math.inf if request.max_cost is None else request.max_cost
        spending = Spending(price, limit, grader, batches) if price else None
        if system.to_ask:
            with writers(log, written) as crew:
                for generated in crew.ask(batches, spending):
                    system.commit(generated, arguments, written.notes, log)
                    _add(written, generated)
        if spending:
            written.cost, written.currency = round(spending.spent, 10), spending.price.currency
            written.out_of_money = spending.is_over
    return written


def _add(written: Written, generated: list[Generated]) -> None:
    for one in generated:
        if one.items is None:
            written.failed[one.query_id] = one.error or "no reason was given"
            continue
        written.written += 1
        if one.tries > 1:
            written.retried.append(one)
