"""What a model writes for the queries of a collection, a bank of items or a system of answers: what
there is to ask, how it gets into the lake, and what became of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.generate.asking import Generated
from gradelake.grading.generate.writers import QueryBatch, WritingRun, writers
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.planner import check_queries, check_slots
from gradelake.grading.run.spending import Spending
from gradelake.sql.common.project import check_name
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import Transaction

_FACET = ", facet "


@dataclass(frozen=True)
class WritingRequest:
    collection: str
    grader: Grader
    name: str  # of the bank, or of the system
    query_ids: tuple[str, ...] | None = None  # None: all
    limit: int | None = None  # queries, or facets; None: all
    kind: ClassVar[str]  # what `name` names
    what: ClassVar[str]  # is written

    @property
    def by_facet(self) -> bool:
        """Whether the prompt asks about one facet of a query at a time."""
        return "subtopic" in self.grader.prompt.slots


class Topic(NamedTuple):
    """What one request asks about: a query, or one facet of a query. `facet_id` may be ''."""

    query_id: str
    facet_id: str
    texts: dict[str, str]  # of the query, by their slots
    subtopic: str

    @property
    def name(self) -> str:
        """What workers and people know it by: no query id holds a space."""
        return self.query_id + (f"{_FACET}{self.facet_id}" if self.facet_id else "")


def ids_of(name: str) -> tuple[str, str]:
    """The query's id and the facet's, of a topic's name."""
    query_id, _, facet_id = name.partition(_FACET)
    return query_id, facet_id


def told(name: str) -> dict[str, str]:
    """What `--json` calls a topic of this name."""
    query_id, facet_id = ids_of(name)
    return {"query_id": query_id} | ({"facet_id": facet_id} if facet_id else {})


@dataclass
class WritingPlan:
    """What there is to ask; counts are of queries, or of facets, as `noun` says."""

    request: WritingRequest
    asked_for: int
    had: int
    to_ask: list[Topic]  # within --limit
    noun: str

    @property
    def planned(self) -> int:
        return len(self.to_ask)

    def as_object(self) -> dict[str, Any]:
        return self.about() | {"left": self.asked_for - self.had, "planned": self.planned}

    def about(self) -> dict[str, Any]:
        return {
            "collection": self.request.collection,
            self.request.kind: self.request.name,
            "grader": self.request.grader.name,
            "grader_id": self.request.grader.grader_id,
            "queries": self.asked_for,
            "asks_about": self.noun,
        }


@dataclass
class Written(WritingRun, WritingPlan):
    """What a run wrote."""

    written: int = 0
    failed: dict[str, str] = field(default_factory=dict)  # name of a topic -> why
    remarkable: list[Generated] = field(default_factory=list)  # retried, for example
    out_of_money: bool = False

    @property
    def left(self) -> int:
        """Planned ones that were not asked about."""
        return self.planned - self.written - len(self.failed)

    def progress(self) -> str:
        failed = f", {len(self.failed):,} failed" if self.failed else ""
        return f"{self.planned - self.left:,} of {self.planned:,} {self.noun}{failed}"

    @property
    def exit_code(self) -> int:
        """0 done, 3 some got nothing, 130 stopped by the user."""
        if self.stopped and self.left:
            return 130
        return 3 if self.failed or self.out_of_money else 0

    def is_remarkable(self, generated: Generated) -> bool:
        return generated.tries > 1

    def add(self, generated: list[Generated]) -> None:
        for one in generated:
            if one.items is None:
                self.failed[one.query_id] = one.error or "no reason was given"
                continue
            self.written += 1
            if self.is_remarkable(one):
                self.remarkable.append(one)

    def as_object(self) -> dict[str, Any]:
        return self.about() | {
            f"had_{self.request.what}": self.had,
            "planned": self.planned,
            "written": self.written,
            "left": self.left,
            "failed": [told(name) | {"reason": why} for name, why in self.failed.items()],
            **self.run_facts(),
        }


class Target:
    """A bank or a system on an open lake, of one grader and no other."""

    def __init__(self, lake: Lake, request: WritingRequest):
        """Raises `BadInput` for an unknown collection or query."""
        check_name(request.name, f"--{request.kind}")
        check_queries(lake, request.collection, request.query_ids)
        check_slots(lake, request.collection, request.grader.prompt)
        self.lake, self.request = lake, request

    def refuse_foreign(self) -> None:
        """Raise `BadInput` where somebody, or another grader, made it."""
        raise NotImplementedError

    def done(self) -> set[tuple[str, str]]:
        """(query_id, facet_id) of all that is written."""
        raise NotImplementedError

    def comes_last(self, topic: Topic) -> bool:
        """Whether a limit is to be used up by others first."""
        return False

    def write(self, commit: Transaction, found: list[Generated], outcome: Any) -> None:
        """Take what is new into the lake, and say how much it is."""
        raise NotImplementedError

    def facts(self) -> tuple[WritingRequest, int, int, list[Topic], str]:
        """What a `WritingPlan` says. Raises `BadInput` as `refuse_foreign` does."""
        self.refuse_foreign()
        request = self.request
        rows = self.lake.rows(
            """
            select
                queries.query_id,
                coalesce(facets.facet_id, ''),
                {
                    'query_id': queries.query_id,
                    'query': queries.text,
                    'description': coalesce(queries.description, ''),
                    'narrative': coalesce(queries.narrative, '')
                },
                trim(coalesce(facets.text, queries.description, ''))
            from lake.raw.queries
            left join (select * from lake.raw.facets where $3) as facets
                using (collection, query_id)
            where
                queries.collection = $1
                and ($2::varchar[] is null or list_contains($2, queries.query_id))
            order by all
            """,
            request.collection,
            list(request.query_ids) if request.query_ids else None,
            request.by_facet,
        )
        wanted = [Topic(*row) for row in rows]
        done = self.done()
        left = [topic for topic in wanted if topic[:2] not in done]
        left.sort(key=self.comes_last)
        noun = "facets" if any(topic.facet_id for topic in wanted) else "queries"
        return request, len(wanted), len(wanted) - len(left), left[: request.limit], noun

    def run(
        self,
        log: ReplyLog,
        outcome: Any,  # a `Written`
        batches: Iterable[QueryBatch],
        arguments: list[str],
        spending: Spending | None = None,
    ) -> None:
        """Ask about all batches; what comes in of one is committed at once."""
        with writers(log, outcome) as crew:
            for generated in crew.ask(batches, spending):
                self._commit(generated, log, outcome, arguments)
                outcome.add(generated)

    def _commit(
        self, generated: list[Generated], log: ReplyLog, outcome: Any, arguments: list[str]
    ) -> None:
        """Take what came of a few topics into the lake, all at once.

        The grader, the ledger's rows, the replies, and the account of the run go with them, of
        topics without anything readable the reason.
        """
        request = self.request
        about = f"{request.collection} {request.grader.name}"
        with self.lake.transaction("generate", about) as commit:
            self.refuse_foreign()
            done = self.done()
            found = [one for one in generated if one.items and ids_of(one.query_id) not in done]
            failed = [one for one in generated if not one.items]
            if found:
                request.grader.register(commit)
            self.write(commit, found, outcome)
            commit.say(**{f"failed_{outcome.noun}": len(failed)})
            commit.extra |= {request.kind: request.name, "grader_id": request.grader.grader_id}
            retried = {
                one.query_id: {"tries": one.tries, "decoding": dict(one.decoding)}
                for one in generated
                if one.tries > 1
            }
            if retried:
                commit.extra["retried"] = retried
            if outcome.notes:
                commit.extra["notes"] = outcome.notes
            why = "; ".join(f"query {one.query_id}: {one.error}" for one in failed)
            log.commit(commit)
            commit.finish_run(arguments, "done" if found or not failed else "failed", why or None)
        log.committed()
