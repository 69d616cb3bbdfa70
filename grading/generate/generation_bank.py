"""The bank that a model writes: which queries have no items in it yet, and how items get there."""

import hashlib
import json
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.generate.asking import Generated
from gradelake.grading.generate.nuggets import Nuggets
from gradelake.grading.generate.passages import relevant
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.planner import check_queries, check_slots, ensure_views
from gradelake.grading.prompts.written_reply import tier_type_text
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import check_name
from gradelake.sql.common.rubric_items import WEIGHTS, criteria_of, item_id_of
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import frame_of
from gradelake.sql.lake.transaction import Transaction

_FACET = ", facet "
# of all banks, as the newest version has them
NUGGETS = """
    select query_id, text, max(weight) from lake.marts.rubric_items_effective
    where collection = $1 and kind = 'nugget' and text is not null and rubric_version
        = (select max(rubric_version) from lake.marts.rubric_versions where collection = $1)
    group by all
"""


@dataclass(frozen=True)
class GenerationRequest:
    collection: str
    grader: Grader
    bank: str
    query_ids: tuple[str, ...] | None = None  # None: all
    limit: int | None = None  # queries, or facets; None: all
    label_set: str | None = None  # whose labels say which passages; None: people's judgments
    level: int | None = None  # from which passages are taken; None: the collection's

    @property
    def out_of_passages(self) -> bool:
        """Whether the prompt reads passages, and makes nuggets out of them."""
        return "passages" in self.grader.prompt.slots

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


class Bank:
    """A generated bank on an open lake, of one grader and no other."""

    def __init__(self, lake: Lake, request: GenerationRequest):
        """Raises `BadInput` for an unknown collection or query, and for a bank that somebody, or
        another grader, made."""
        self.lake = lake
        self.request = request
        # the bank's name where it says what its items do not tell; its entries in the ledger begin
        # with it: a grader and a query follow
        self._target = f"{request.collection}/bank/{request.bank}"
        check_name(request.bank, "--bank")
        check_queries(lake, request.collection, request.query_ids)
        check_slots(lake, request.collection, request.grader.prompt)
        self.passages = None
        self.passage_ids: dict[str, list[str]] = {}  # by query
        if request.out_of_passages:
            self.passages = relevant(lake, request.collection, request.label_set, request.level)
            most = request.grader.prompt.max_passages
            self.passage_ids = self.passages.ids(lake, most or 0)
        self.nuggets: dict[str, dict[str, float]] = {}  # by query, of which criteria are made
        if request.grader.prompt.items == "criterion":
            ensure_views(lake, ("marts.rubric_items_effective", "marts.rubric_versions"))
            for query_id, text, weight in lake.rows(NUGGETS, request.collection):
                self.nuggets.setdefault(query_id, {})[text] = weight
        self._refuse_foreign()
        rows = lake.rows(
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
        done = self._with_items()
        left = [topic for topic in wanted if topic[:2] not in done]
        # no limit is used up by what there is nothing to read for
        left.sort(key=lambda topic: bool(self.passages) and topic.query_id not in self.passage_ids)
        self.noun = "facets" if any(topic.facet_id for topic in wanted) else "queries"
        self.to_ask = left[: request.limit]
        # what a `Plan` says of it
        self.facts = request, len(wanted), len(wanted) - len(left), len(self.to_ask), self.noun

    def _refuse_foreign(self) -> None:
        collection, bank = self.request.collection, self.request.bank
        origins = self.lake.column(
            "select distinct origin from lake.raw.rubric_items "
            "where collection = ? and bank = ? and origin <> 'generated'",
            collection,
            bank,
        )
        if origins:
            raise BadInput(
                f"{collection} has a bank {bank!r} from another source ({origins[0]})",
                "It is left as it is. Choose another --bank.",
            )
        others = self.lake.column(
            "select distinct split_part(target, '/', 4) from lake.raw.ledger "
            "where starts_with(target, ?) and not starts_with(target, ?)",
            f"{self._target}/",
            f"{self._target}/{self.request.grader.grader_id}/",
        )
        if others:
            name = self.lake.value(
                "select name from lake.raw.graders where grader_id = ?", others[0]
            )
            raise BadInput(
                f"the bank {bank!r} of {collection} was made by another grader: {name} "
                f"({others[0]}); this one is {self.request.grader.grader_id}",
                "A changed prompt, model or setting makes another grader. Choose another --bank.",
            )
        made_of = self.lake.value(
            "select min(content->>'$.line.info.made_out_of') from lake.raw.brought_along "
            "where target = ?",
            self._target,
        )
        if made_of and made_of != str(self.passages):
            raise BadInput(
                f"the bank {bank!r} of {collection} was made out of passages {made_of}, "
                f"not {self.passages}",
                "Ask for the same, or choose another --bank.",
            )

    def _with_items(self) -> set[tuple[str, str]]:
        """(query_id, facet_id) of all items of the bank."""
        return set(
            self.lake.rows(
                "select distinct query_id, facet_id from lake.raw.rubric_items "
                "where collection = ? and bank = ?",
                self.request.collection,
                self.request.bank,
            )
        )

    def commit(
        self, generated: list[Generated], arguments: list[str], notes: list[str], log: ReplyLog
    ) -> int:
        """Take the items of a few topics into the lake, all at once. Returns how many.

        The grader, the ledger's row of each topic, the replies, and the account of the run go with
        them, of topics without readable items the reason.
        """
        grader = self.request.grader
        with self.lake.transaction(
            "generate", f"{self.request.collection} {grader.name}"
        ) as commit:
            self._refuse_foreign()
            done = self._with_items()
            found = [one for one in generated if one.items and ids_of(one.query_id) not in done]
            failed = [one for one in generated if not one.items]
            if found:
                grader.register(commit)
            bank = {"collection": self.request.collection, "bank": self.request.bank}
            made = {"origin": "generated", "created_at": utc_now()}
            n_items = commit.insert("rubric_items", self._rows(found), **bank, **made)
            if self.passages and found:
                part = {"target": self._target, "part": f"{grader.prompt.items}/"}
                where = {"collection": self.request.collection, **part}
                commit.insert("brought_along", self._provenance(found), **where)
            for one in found:
                self._record(commit, one)
            commit.say(rubric_items=n_items)
            commit.say(**{self.noun: len(found), f"failed_{self.noun}": len(failed)})
            commit.extra |= {"bank": self.request.bank, "grader_id": grader.grader_id}
            retried = {
                one.query_id: {"tries": one.tries, "decoding": dict(one.decoding)}
                for one in generated
                if one.tries > 1
            }
            if retried:
                commit.extra["retried"] = retried
            if notes:
                commit.extra["notes"] = notes
            why = "; ".join(f"query {one.query_id}: {one.error}" for one in failed)
            log.commit(commit)
            commit.finish_run(arguments, "done" if found or not failed else "failed", why or None)
        log.committed()
        return n_items

    def _record(self, commit: Transaction, one: Generated) -> None:
        content = json.dumps(one.items.texts, ensure_ascii=False)
        about = "/".join(filter(None, ids_of(one.query_id)))
        commit.record(
            f"{self._target}/{self.request.grader.grader_id}/{about}",
            hashlib.sha256(content.encode()).hexdigest(),
            len(self._made(one)),
        )

    def _made(self, one: Generated) -> list[tuple[str, str, float]]:
        """(kind, text, weight) of the items of a topic."""
        kind, texts = self.request.grader.prompt.items or "", one.items.texts
        if kind != "criterion":
            weights = one.items.weights if self.passages else (1.0,) * len(texts)
            return [(kind, *each) for each in zip(texts, weights, strict=True)]
        made = {}  # by text: what a nugget says already stands once
        for tier, type_, text in map(tier_type_text, texts):
            made[text] = f"{kind}:{tier}:{type_}", text, WEIGHTS[tier]
        made |= {each[1]: each for each in criteria_of(self.nuggets[one.query_id])}
        return list(made.values())

    def _rows(self, found: list[Generated]) -> pl.DataFrame:
        rows = []
        for one in found:
            ids = ids_of(one.query_id)
            for place, (kind, text, weight) in enumerate(self._made(one), start=1):
                rows.append((*ids, item_id_of(*ids, text), kind, text, weight, place))
        columns = ("query_id", "facet_id", "item_id", "kind", "text", "weight", "place")
        return frame_of("rubric_items", columns, rows)

    def _provenance(self, found: list[Generated]) -> pl.DataFrame:
        """What each query's nuggets were made out of; an export of the bank gives it back."""
        rows = []
        for one in found:
            nuggets: Nuggets = one.items
            given = [
                (item_id_of(one.query_id, "", text), {"info": {"passage_ids": passage_ids}})
                for text, passage_ids in zip(nuggets.texts, nuggets.passage_ids, strict=True)
            ]
            content = {"line": {"info": {"made_out_of": str(self.passages)}}, "given": given}
            rows.append((one.query_id, json.dumps(content, ensure_ascii=False)))
        return frame_of("brought_along", ("query_id", "content"), rows)
