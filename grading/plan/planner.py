"""What a grader has still to do: an anti-join in SQL, then chunks of work in order."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from gradelake.grading.ask.entry import OF_WHAT
from gradelake.grading.engines import CUT_OFF, NOT_WHOLE
from gradelake.grading.graders.configured import require_judge
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan import prices
from gradelake.grading.plan.request import Chunk, GradingRequest, Totals
from gradelake.grading.plan.taken import size, taken
from gradelake.grading.prompts.parsers import PARSERS
from gradelake.grading.prompts.prompt import OF_QUERY, Prompt
from gradelake.sql.build.ensure import ensure
from gradelake.sql.common.errors import BadInput, NotThere
from gradelake.sql.common.judgment_kinds import kinds_with
from gradelake.sql.common.project import require_known
from gradelake.sql.common.rubric_items import plural
from gradelake.sql.lake.connection import execute, little_memory
from gradelake.sql.lake.opening import Lake

PLAN = Path(__file__).with_name("plan.sql")
# dbt's views that say what is wanted; they are always as new as the raw tables
VIEWS = ("marts.wanted_items", "marts.wanted_grades", "intermediate.int_query_hashes", prices.VIEW)
SEEDS = (
    "rubric_edits",
    "evaluation_citations",
    "evaluation_battles",
    "judgment_kinds",
    "prices",
)  # what people keep that these views read
MOST_ASKED = 9  # times that a pair is asked about which no reply comes to, if nobody says more
_WINDOW = 8  # chunks fetched at a time


class NothingToGrade(BadInput):
    """A collection has nothing that this grader may grade: none of its kind of rubric items, or
    the grader's worked examples come from it. Of several collections, one may be so."""


class GradingPlan:
    """A request planned on an open lake. Its tables live as long as the lake's connection."""

    def __init__(self, lake: Lake, request: GradingRequest):
        """Raises `BadInput` for an unknown collection, query or rubric version, or an empty bank.

        The lake must have its views (`ensure_views`).
        """
        self.lake = lake
        self.request = request
        self.prompt = request.grader.prompt
        self.rubric_version = _checked_version(lake, request)
        self.queries_without = check_slots(lake, request.collection, self.prompt)
        for name, (kind, value) in self._variables().items():
            execute(lake.connection, f"set variable {name} = $value::{kind}", {"value": value})
        with little_memory(lake.connection):
            lake.connection.execute(PLAN.read_text(encoding="utf-8"))
            self.totals = self._totals()

    def _variables(self) -> dict[str, tuple[str, Any]]:
        """The settings at the head of the SQL: name -> (type, value)."""
        request, grader, prompt = self.request, self.request.grader, self.prompt
        kind = prompt.judgment_kind
        compares = prompt.target == "verify" or PARSERS[grader.parser].needs_gold
        return {
            "collection": ("varchar", request.collection),
            "grader_id": ("varchar", grader.grader_id),
            "rubric_version": ("integer", self.rubric_version),
            "kind": ("varchar", kind.kind),
            "is_of_pool": ("boolean", kind.is_of_passages),
            "is_drawn": ("boolean", kind.is_drawn),
            "is_of_two": ("boolean", prompt.compares_two),
            "needs_key": ("boolean", compares or "rubric" in prompt.slots),
            "answers_from": ("varchar", grader.answers_from),
            "scores_from": (
                "struct(name varchar, grader_id varchar)[]",
                [{"name": name, "grader_id": id_} for name, id_ in grader.scores_from.items()],
            ),
            "query_ids": ("varchar[]", list(request.query_ids) if request.query_ids else None),
            # items that are asked about at once belong to one passage
            "context_first": ("boolean", prompt.context_first or prompt.window is not None),
            "query_slots": ("varchar[]", [slot for slot in OF_QUERY if slot in prompt.slots]),
            "may_share": ("boolean", {*OF_QUERY, "passage", "item"}.issuperset(prompt.slots)),
            "chunk_pairs": ("bigint", grader.chunk_pairs),
            "window_pairs": ("bigint", prompt.window or 1),
            "pairs_limit": ("bigint", request.limit),
            "retry": ("varchar[]", list(request.retry)),
            "most_asked": ("bigint", 0 if grader.in_batches else MOST_ASKED),
            "reread_from": (
                "varchar[]",
                other_readers(self.lake, grader) if request.reread else None,
            ),
            "not_whole": ("varchar[]", [CUT_OFF, NOT_WHOLE]),
        }

    @property
    def planned(self) -> int:
        """Pairs that a run grades: what is missing, as far as the request's limit lets it."""
        totals, limit = self.totals, self.request.limit
        return totals.missing if limit is None else min(totals.missing, limit + totals.reusable)

    def _totals(self) -> Totals:
        lake, grader = self.lake, self.request.grader
        (counts,) = lake.objects(
            """
            select
                (select count(*) from plan_graded) as graded,
                (select count(*) from plan_graded where is_failed) as failed,
                (select count(*) from plan_missing) as missing,
                (select count(*) from plan_again) as retried,
                (select count(*) from plan_under_way) as under_way,
                (select count(*) from plan_reusable) as reusable,
                (
                    select count(*) from plan_reusable
                    where known['collection'] != getvariable('collection')
                ) as shared,
                (select count(distinct passage_id) from plan_pool where not is_gradable)
                    as without_text
            """
        )
        pairs, prompts, n_bytes = size(lake, grader)
        before = taken(lake, grader, self.request.collection)
        tokens = round(n_bytes * before.tokens_per_byte)
        by_query = lake.rows(
            "select query_id, count(*) from plan_missing inner join plan_passages "
            "using (passage_no) group by query_id"
        )
        cost = prices.estimated_cost(lake, grader, prompts, n_bytes, before)
        return Totals(
            **counts,
            asked=pairs,
            prompts=prompts,
            prompt_tokens=tokens,
            tokens_measured=before.is_measured,
            pairs_per_second=self._rate(),
            cost=cost,
            missing_of=dict(by_query),
            queries_without=self.queries_without,
        )

    def _rate(self) -> float | None:
        """The rate of what was graded while the run waited for it."""
        if self.request.grader.in_batches:
            return None
        return self.lake.value(
            "select sum(ok + unanswerable + defaulted + failed) / nullif(sum(wall_seconds), 0) "
            "from lake.raw.grading_runs where grader_id = getvariable('grader_id') "
            "and run_id not in (select batch_id from lake.raw.batches)"
        )

    def chunks(self) -> Iterator[Chunk]:
        """The work in order. Texts are held a few chunks ahead, not all at once; the lake is read
        before the first, so that none waits for its catalog."""
        self._fetch_texts()
        numbers = self.lake.column("select distinct chunk_no from plan_work order by 1")
        for start in range(0, len(numbers), _WINDOW):
            window = numbers[start : start + _WINDOW]
            work = self.lake.frame(
                """
                select
                    plan_work.chunk_no,
                    plan_work.leader_no,
                    plan_work.work_no = plan_work.leader_no as is_leader,
                    plan_passages.query_id,
                    plan_passages.passage_id,
                    plan_passages.text_sha256 as passage_sha256,
                    plan_passages.query_sha256,
                    plan_items.item_id,
                    plan_queries.* exclude (query_id),
                    plan_texts.text as passage,
                    plan_items.item_text as item,
                    plan_items.gold_answers,
                    plan_items.gold_sha256,
                    plan_work.answer,
                    plan_work.reply
                from plan_work
                inner join plan_passages using (passage_no)
                inner join plan_items using (item_no)
                inner join plan_texts using (text_no)
                inner join plan_queries on plan_passages.query_id = plan_queries.query_id
                where plan_work.chunk_no between $first and $last
                order by plan_work.chunk_no, plan_work.work_no
                """,
                first=window[0],
                last=window[-1],
            )
            for _, rows in work.group_by("chunk_no", maintain_order=True):
                yield self._chunk(rows)

    def _fetch_texts(self) -> None:
        texts = "".join(f", coalesce({slot}, '') as {slot}" for slot in self.prompt.topic_slots)
        self.lake.connection.execute(
            f"""
            create or replace temp table plan_texts as
            select plan_passages.text_no, any_value(passages.text) as text
            from plan_passages
            inner join lake.raw.passages on plan_passages.passage_id = passages.passage_id
            where
                passages.collection = getvariable('collection')
                and passages.text_sha256 = plan_passages.text_sha256
                and plan_passages.passage_no in (select passage_no from plan_work)
            group by plan_passages.text_no
            order by plan_passages.text_no;

            create or replace temp table plan_queries as
            select query_id, text as query{texts}
            from lake.raw.queries
            where
                collection = getvariable('collection')
                and query_id in (select plan_passages.query_id from plan_passages)
            """
        )

    def _chunk(self, rows: pl.DataFrame) -> Chunk:
        key = ("query_id", "passage_id", "passage_sha256", "query_sha256", "item_id", "gold_sha256")
        content = hashlib.sha256(
            f"{self.request.grader.grader_id}\n{self.request.collection}\n".encode()
        )
        content.update(rows.select(key).write_csv(None, separator="\t").encode())
        # leaders come first, so counting them in order numbers the prompts
        pairs = rows.select(
            *key,
            pl.col("leader_no").rank("dense").sub(1).cast(pl.UInt32).alias("prompt_no"),
            "is_leader",
        )
        asked = ("passage", "item", "answer", "gold_answers", "reply")
        asks = rows.filter("is_leader").select(*OF_WHAT, "query", *self.prompt.topic_slots, *asked)
        if self.request.grader.scores_from:
            asks = asks.rename({"answer": "scores"})
        if "rubric" in self.prompt.slots:
            asks = asks.with_columns(rubric="- " + pl.col("gold_answers").list.join("\n- "))
        return Chunk(content.hexdigest()[:32], pairs, asks)


def other_readers(lake: Lake, grader: Grader) -> list[str]:
    """Ids of graders that ask a model what this one asks it, and read the replies in another way.

    Raises `BadInput` where a reply is not of one pair alone, or there are none.
    """
    prompt = grader.prompt
    if prompt.window is not None or prompt.target == "verify":
        raise BadInput(
            f"--reread: {grader.name} asks about several items at once, or several times about one",
            "Its replies cannot be read pair by pair: grade without --reread.",
        )
    same = ("engine", "model", "model_revision", "prompt_sha256")
    mine = grader.row()
    where = " and ".join(f"{name} = ?" for name in same)
    rows = lake.rows(
        f"select grader_id, settings from lake.raw.graders where {where}",
        *(mine[name] for name in same),
    )
    found = [
        id_
        for id_, settings in rows
        if id_ != grader.grader_id and _asking(settings) == _asking(mine["settings"])
    ]
    if not found:
        raise BadInput(
            f"--reread: nobody asked {grader.model or grader.engine} the same before {grader.name}",
            "Only the parser may differ: the same prompt, model, decoding and settings.",
        )
    return found


def _asking(settings: str) -> dict[str, Any]:
    """The part of what `raw.graders` has of a grader that changes its prompts and replies."""
    return {key: value for key, value in json.loads(settings).items() if key != "reading"}


def check_queries(lake: Lake, collection: str, query_ids: tuple[str, ...] | None) -> None:
    """Raise `BadInput` for a collection, or a query of it, that the lake does not have."""
    lake.require_collection(collection)
    if query_ids:
        queries = lake.query_ids(collection)
        for query_id in query_ids:
            missing = f"{collection} has no query {query_id!r}"
            require_known(query_id, queries, missing, NotThere)


def check_slots(lake: Lake, collection: str, prompt: Prompt) -> dict[str, int]:
    """How many queries have no text for a slot of a prompt, by slot; raises `NothingToGrade` where
    none has one."""
    found = {}
    for slot in prompt.topic_slots:
        ((n, found[slot]),) = lake.rows(
            f"select count(*), count(*) filter (coalesce({slot}, '') = '') from lake.raw.queries "
            "where collection = ?",
            collection,
        )
        if n == found[slot]:
            raise NothingToGrade(
                f"no query of {collection} has a {slot}, which the prompt {prompt.name!r} shows",
                f"Ingest topics with one, or take a prompt without {{{slot}}}.",
            )
    # a kind of judgment that needs it leaves those queries out
    needed = {each.only_with for each in kinds_with(prompt.target)}
    return {slot: n for slot, n in found.items() if n and slot not in needed}


def _checked_version(lake: Lake, request: GradingRequest) -> int:
    """The version of the rubric to grade: the one asked for, or the newest. Passages as a whole
    belong to version 0. Raises `BadInput` for a request that cannot be met."""
    require_judge(request.grader)
    check_queries(lake, request.collection, request.query_ids)
    prompt = request.grader.prompt
    if request.collection in prompt.example_collections:
        raise NothingToGrade(
            f"the worked examples of the prompt {prompt.name!r} come from {request.collection!r}",
            "A judge must not see judgments of the collection it grades: take others.",
        )
    for table, what in prompt.judgment_kind.needs.items():
        there = f"select 1 from lake.raw.{table} where collection = ? limit 1"
        if not lake.value(there, request.collection):
            raise NothingToGrade(
                f"{request.collection} has no {what}",
                "Name their files in gradelake.toml (responses = [...]), and ingest it.",
            )
    guided = (
        "select 1 from lake.marts.wanted_items "
        "where collection = ? and kind = ? and gold_sha256 is not null limit 1"
    )
    if "rubric" in prompt.slots and not lake.value(guided, request.collection, prompt.wanted_kind):
        raise _no_rubric(request.collection)
    if prompt.items:
        return _version_with_items(lake, request, prompt.items)
    if request.rubric_version:
        raise BadInput(
            f"--rubric-version {request.rubric_version}: {request.grader.name} grades no items of "
            "a rubric",
            "Leave it out.",
        )
    return 0


def _no_rubric(collection: str) -> NothingToGrade:
    hint = f"Bring one in: gradelake import bank {collection} FILE --name NAME"
    return NothingToGrade(f"{collection} has no rubric", hint)


def _version_with_items(lake: Lake, request: GradingRequest, kind: str) -> int:
    versions = dict(
        lake.rows(
            "select rubric_version, count(text) filter (where wanted_items.kind = ?) "
            "from lake.marts.wanted_items "
            "inner join lake.intermediate.judgment_kinds as kinds using (kind) "
            "where collection = ? and kinds.items = 'rubric' group by 1",
            kind,
            request.collection,
        )
    )
    if not versions:
        raise _no_rubric(request.collection)
    version = max(versions) if request.rubric_version is None else request.rubric_version
    if version not in versions:
        raise BadInput(
            f"{request.collection} has no rubric version {version}",
            f"Known: {', '.join(map(str, sorted(versions)))}.",
        )
    if not versions[version]:
        kinds = plural(kind)
        raise NothingToGrade(
            f"the rubric of {request.collection} has no {kinds}",
            f"The prompt {request.grader.prompt.name!r} asks about {kinds}: take another prompt, "
            f"or bring a bank of {kinds} in.",
        )
    return version


def ensure_views(lake: Lake, views: tuple[str, ...] = VIEWS) -> None:
    """Build dbt's views of what is wanted where they are missing, or older than the seeds."""
    ensure(lake, views, SEEDS)
