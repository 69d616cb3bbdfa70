"""The bank that a model writes: which queries have no items in it yet, and how items get there."""

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from gradelake.grading.generate.asking import Generated
from gradelake.grading.generate.nuggets import Nuggets
from gradelake.grading.generate.passages import relevant
from gradelake.grading.generate.writing import Target, Topic, WritingRequest, ids_of
from gradelake.grading.plan.planner import ensure_views
from gradelake.grading.prompts.written_reply import tier_type_text
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.hashes import text_sha256
from gradelake.sql.common.rubric_items import WEIGHTS, criteria_of, item_id_of
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import frame_of
from gradelake.sql.lake.transaction import Transaction

# of all banks, as the newest version has them
NUGGETS = """
    select query_id, text, max(weight) from lake.marts.rubric_items_effective
    where collection = $1 and kind = 'nugget' and text is not null and rubric_version
        = (select max(rubric_version) from lake.marts.rubric_versions where collection = $1)
    group by all
"""


@dataclass(frozen=True)
class GenerationRequest(WritingRequest):
    label_set: str | None = None  # whose labels say which passages; None: people's judgments
    level: int | None = None  # from which passages are taken; None: the collection's
    kind: ClassVar = "bank"
    what: ClassVar = "items"

    @property
    def out_of_passages(self) -> bool:
        """Whether the prompt reads passages, and makes nuggets out of them."""
        return "passages" in self.grader.prompt.slots


class Bank(Target):
    request: GenerationRequest

    def __init__(self, lake: Lake, request: GenerationRequest):
        super().__init__(lake, request)
        # the bank's name where it says what its items do not tell; its entries in the ledger begin
        # with it: a grader and a query follow
        self._target = f"{request.collection}/bank/{request.name}"
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

    def comes_last(self, topic: Topic) -> bool:
        """Whether there is nothing to read for it."""
        return bool(self.passages) and topic.query_id not in self.passage_ids

    def refuse_foreign(self) -> None:
        collection, bank = self.request.collection, self.request.name
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

    def done(self) -> set[tuple[str, str]]:
        return set(
            self.lake.rows(
                "select distinct query_id, facet_id from lake.raw.rubric_items "
                "where collection = ? and bank = ?",
                self.request.collection,
                self.request.name,
            )
        )

    def write(self, commit: Transaction, found: list[Generated], outcome: Any) -> None:
        request = self.request
        bank = {"collection": request.collection, "bank": request.name}
        made = {"origin": "generated", "created_at": utc_now()}
        n_items = commit.insert("rubric_items", self._rows(found), **bank, **made)
        if self.passages and found:
            part = {"target": self._target, "part": f"{request.grader.prompt.items}/"}
            where = {"collection": request.collection, **part}
            commit.insert("brought_along", self._provenance(found), **where)
        for one in found:
            self._record(commit, one)
        commit.say(rubric_items=n_items, **{outcome.noun: len(found)})
        outcome.n_items += n_items

    def _record(self, commit: Transaction, generated: Generated) -> None:
        content = json.dumps(generated.items.texts, ensure_ascii=False)
        about = "/".join(filter(None, ids_of(generated.query_id)))
        commit.record(
            f"{self._target}/{self.request.grader.grader_id}/{about}",
            text_sha256(content),
            len(self._made(generated)),
        )

    def _made(self, generated: Generated) -> list[tuple[str, str, float]]:
        """(kind, text, weight) of the items of a topic."""
        kind, texts = self.request.grader.prompt.items or "", generated.items.texts
        if kind != "criterion":
            weights = generated.items.weights if self.passages else (1.0,) * len(texts)
            return [(kind, *each) for each in zip(texts, weights, strict=True)]
        made = {}  # by text: what a nugget says already stands once
        for tier, type_, text in map(tier_type_text, texts):
            made[text] = f"{kind}:{tier}:{type_}", text, WEIGHTS[tier]
        made |= {each[1]: each for each in criteria_of(self.nuggets[generated.query_id])}
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
