"""Rounds of a sentinel: one is all of its pairs, graded once by one grader."""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.planner import ensure_views
from gradelake.grading.plan.prices import price_of, required_price
from gradelake.grading.plan.request import Chunk, Totals
from gradelake.grading.run.grader_run import Run, work
from gradelake.grading.run.progress import Progress
from gradelake.grading.run.staging import Committer
from gradelake.grading.sentinel.sentinel import (
    KINDS,
    Sentinel,
    draw,
    n_drawn,
    read_sentinel,
    watched,
)
from gradelake.sql.common import console
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, GradelakeError
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import grader_lock
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import Transaction


@dataclass(frozen=True)
class Limits:
    """Requests at most, seconds after which none is begun, and money. None: no limit."""

    requests: int | None = None
    seconds: float | None = None
    cost: float | None = None

    def less(self, requests: int, seconds: float, cost: float) -> "Limits":
        """What is left of them."""
        return Limits(
            None if self.requests is None else max(0, self.requests - requests),
            None if self.seconds is None else self.seconds - seconds,
            None if self.cost is None else self.cost - cost,
        )


@dataclass(frozen=True)
class Round:
    """The round that is at work, or was last; `due_on` is when the next one may begin."""

    number: int
    n_graded: int
    due_on: date | None  # None: now


class RoundCommitter(Committer):
    """Takes a round's chunks into the lake, beside all other grades. No batch tells of it: what it
    took stands with its grades."""

    table = "sentinel_grades"
    waits_in = "-sentinel"

    def account(self, transaction: Transaction, state: str) -> None:
        pass


class RoundPlan:
    """What a round has still to grade."""

    def __init__(
        self, lake: Lake, grader: Grader, collection: str, name: str, this: Round, limit: int | None
    ):
        self.grader = grader
        key = (collection, name, grader.grader_id, this.number)
        self.key = "\n".join(map(str, key))
        first = "passage_id, item_id" if grader.prompt.context_first else "item_id, passage_id"
        self.rows = lake.frame(
            f"""
            select sentinel, $round::integer as round, query_id, passage_id, item_id,
                query, passage, item
            from lake.raw.sentinel_pairs
            anti join (
                select query_id, passage_id, item_id from lake.raw.sentinel_grades
                where
                    collection = $collection and sentinel = $sentinel
                    and grader_id = $grader_id and round = $round
            ) as graded using (query_id, passage_id, item_id)
            where collection = $collection and sentinel = $sentinel and kind = $kind
            order by query_id, {first}
            """,
            **dict(zip(("collection", "sentinel", "grader_id", "round"), key, strict=True)),
            kind=KINDS[grader.prompt.target],
        )
        missing = self.rows.height
        if limit is not None:
            self.rows = self.rows.head(limit)
        asked = self.rows.height
        self.totals = Totals(this.n_graded, missing=missing, asked=asked, prompts=asked)

    def chunks(self) -> Iterator[Chunk]:
        """In order, a whole chunk at a time."""
        import polars as pl

        for rows in self.rows.iter_slices(self.grader.chunk_pairs):
            pairs = rows.select(
                *("sentinel", "round", "query_id", "passage_id", "item_id"),
                pl.int_range(pl.len(), dtype=pl.UInt32).alias("prompt_no"),
                pl.lit(True).alias("is_leader"),
            )
            content = hashlib.sha256(f"{self.key}\n".encode())
            content.update(pairs.write_csv(None, separator="\t").encode())
            nothing = [pl.lit(None).alias(slot) for slot in ("answer", "gold_answers", "reply")]
            asks = rows.select("query", "passage", "item", *nothing)
            yield Chunk(content.hexdigest()[:32], pairs, asks)


@dataclass
class Watch:
    """The rounds that were graded, as objects, and the graders that could not."""

    rounds: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)

    @property
    def stopped(self) -> bool:
        return any(each["stopped"] for each in self.rounds)

    @property
    def exit_code(self) -> int:
        """0 done, 3 some pairs failed, 1 a grader failed, 130 stopped."""
        if self.stopped:
            return 130
        return 1 if self.failed else 3 if any(each["failed"] for each in self.rounds) else 0

    def as_object(self) -> dict[str, Any]:
        """What `--json` prints."""
        counts = {
            what: sum(each[what] for each in self.rounds) for what in ("pairs", "failed", "left")
        }
        return counts | {"rounds": self.rounds, "failed_graders": self.failed}


def watch(
    project: Project,
    names: Sequence[str],
    now: bool = False,
    limit: int | None = None,
    max_minutes: float | None = None,
    max_cost: float | None = None,
) -> Watch:
    """Grade the rounds of sentinels (none named: all) that are due, or `now` is true.

    The limits are of all rounds together. A grader that fails is told, and the others go on.
    Raises `BadInput` for a sentinel that there is not, or that is wrong.
    """
    names = names or tuple(project.sentinels)
    if not names:
        raise BadInput(
            f"{project.file}: there are no sentinels",
            'Describe one: [sentinels.NAME] collection = "...", graders = ["..."]',
        )
    chosen = {name: read_sentinel(project, name) for name in names}
    limits = Limits(limit, max_minutes and 60 * max_minutes, max_cost)
    started, done = time.monotonic(), Watch()
    for name, sentinel in chosen.items():
        if done.stopped:
            break
        about = {"sentinel": name, "collection": sentinel.collection}
        for grader in prepare(project, name, sentinel, console.tell):
            left = limits.less(
                sum(each["pairs"] for each in done.rounds),
                time.monotonic() - started,
                sum(each["cost"] or 0.0 for each in done.rounds),
            )
            try:
                with Progress() as progress:
                    found = grade_round(
                        project, name, sentinel, grader, console.tell, progress, now, left
                    )
            except GradelakeError as error:
                console.warn(f"error: {grader.name}: {error}")
                done.failed.append(about | {"grader": grader.name, "reason": str(error)})
                continue
            done.rounds.append(about | found)
            if found["stopped"]:
                break
    return done


def prepare(
    project: Project, name: str, sentinel: Sentinel, tell: Callable[[str], None]
) -> list[Grader]:
    """The sentinel's graders; its pairs are drawn if they were not. Raises `BadInput` for what
    cannot be watched, and as `draw`."""
    with Lake.writer(project) as lake:
        ensure_views(lake)
        graders = [watched(project, lake, name, grader) for grader in sentinel.graders]
        is_new = not n_drawn(lake, sentinel.collection, name)[0]
        n_pairs = draw(lake, name, sentinel, graders)
        if is_new:
            tell(f"drew {counted(n_pairs, 'pairs')} that people judged; they never change")
        elif n_pairs != sentinel.pairs:
            tell(f"note: it has {counted(n_pairs, 'pairs')}, as it was drawn, not {sentinel.pairs}")
    return graders


def grade_round(
    project: Project,
    name: str,
    sentinel: Sentinel,
    grader: Grader,
    tell: Callable[[str], None],
    on_progress: Callable[[Run, Committer], None] = lambda run, committer: None,
    now: bool = False,
    limits: Limits = Limits(),
) -> dict[str, Any]:
    """Go on with a grader's round, or begin the next one where it is due, or `now` is true.

    Returns what was done, as an object. Raises as `run.grade` does.
    """
    collection = sentinel.collection
    purpose = f"gradelake sentinel {name}"
    with Lake.writer(project) as lake, grader_lock(project, grader.grader_id, purpose):
        committer = RoundCommitter(lake, grader, collection)
        if recovered := committer.recover():
            tell(f"committed {counted(recovered, 'pairs')} that an interrupted round had graded")
        this = _round(lake, name, sentinel, grader, now)
        plan = RoundPlan(lake, grader, collection, name, this, limits.requests)
        is_paid = engine_finder.engine_of(grader).needs_model
        max_cost = limits.cost if is_paid else None
        run = Run(plan.totals, committer.run_id, recovered, counts=committer.counts)
        run.price = (price_of if max_cost is None else required_price)(lake, grader)
        run.planned = plan.rows.height
        if run.planned:
            deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
            work(project, plan, committer, run, tell, on_progress, deadline, max_cost)
        run.notes = list(committer.notes)
    return {
        "grader": grader.name,
        "grader_id": grader.grader_id,
        "round": this.number,
        "due_on": this.due_on and this.due_on.isoformat(),
        "recovered": recovered,
        "left": plan.totals.missing - run.counts["pairs"],
        "cost": run.cost if is_paid else 0.0,
        "currency": run.price and run.price.currency,
        "stopped": run.stopped,
        "notes": run.notes,
        "seconds": round(committer.seconds, 3),
        **{
            name: run.counts[name]
            for name in ("pairs", "failed", "prompt_tokens", "cached_tokens", "completion_tokens")
        },
    }


def _round(lake: Lake, name: str, sentinel: Sentinel, grader: Grader, now: bool) -> Round:
    kind = KINDS[grader.prompt.target]
    _, n_wanted = n_drawn(lake, sentinel.collection, name, kind)
    newest = lake.rows(
        """
        select round, count(*), cast(min(graded_at) as date)
        from lake.raw.sentinel_grades
        where collection = ? and sentinel = ? and grader_id = ?
        group by round
        order by round desc
        limit 1
        """,
        *(sentinel.collection, name, grader.grader_id),
    )
    if not newest:
        return Round(1, 0, None)
    number, n_graded, began_on = newest[0]
    if n_graded < n_wanted:
        return Round(number, n_graded, None)
    due_on = began_on + timedelta(days=sentinel.every_days)
    if now or utc_now().date() >= due_on:
        return Round(number + 1, 0, None)
    return Round(number, n_graded, due_on)
