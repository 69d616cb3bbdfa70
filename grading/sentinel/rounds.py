"""Rounds of a sentinel: one is all of its pairs, graded once by one grader."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import polars as pl

from gradelake.grading.ask.entry import OF_WHAT, Asked
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.engines import TOKENS
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.planner import ensure_views
from gradelake.grading.plan.prices import price_of
from gradelake.grading.plan.request import Chunk, Totals
from gradelake.grading.run.committer import Committer
from gradelake.grading.run.grader_run import Run, work
from gradelake.grading.run.progress import showing_progress
from gradelake.grading.sentinel.sentinel import (
    KINDS,
    OF_PROBES,
    Sentinel,
    Watched,
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


@dataclass(frozen=True)
class RoundLimits:
    """Requests at most, seconds after which none is begun, and money. None: no limit."""

    requests: int | None = None
    seconds: float | None = None
    cost: float | None = None

    def less(self, requests: int, seconds: float, cost: float) -> "RoundLimits":
        return RoundLimits(
            None if self.requests is None else max(0, self.requests - requests),
            None if self.seconds is None else self.seconds - seconds,
            None if self.cost is None else self.cost - cost,
        )


def missing_in_round(lake: Lake, grader: Grader, key: tuple[str, str, str, int]) -> pl.DataFrame:
    """What a round has still to grade: (collection, sentinel, grader_id, round)."""
    first = "passage_id, item_id" if grader.prompt.context_first else "item_id, passage_id"
    return lake.frame(
        f"""
        select sentinel, $4::integer as round, query_id, passage_id, item_id, query, passage, item
        from lake.raw.sentinel_pairs
        anti join (
            select query_id, passage_id, item_id from lake.raw.sentinel_grades
            where collection = $1 and sentinel = $2 and grader_id = $3 and round = $4
        ) as graded using (query_id, passage_id, item_id)
        where collection = $1 and sentinel = $2 and kind = $5
        order by query_id, {first}
        """,
        *key,
        KINDS[grader.prompt.target],
    )


def _chunks(rows: pl.DataFrame, grader: Grader, key: tuple[str, str, str, int]) -> Iterator[Chunk]:
    """These rows of `missing_in_round` in order, a whole chunk at a time."""
    head = "".join(f"{part}\n" for part in key)
    for some in rows.iter_slices(grader.chunk_pairs):
        pairs = some.select(
            "sentinel",
            "round",
            "query_id",
            "passage_id",
            "item_id",
            pl.int_range(pl.len(), dtype=pl.UInt32).alias("prompt_no"),
            pl.lit(True).alias("is_leader"),
        )
        content = head + pairs.write_csv(None, separator="\t")
        nothing = [pl.lit(None).alias(slot) for slot in ("answer", "gold_answers", "reply")]
        asks = some.select(*OF_WHAT, "query", "passage", "item", *nothing)
        yield Chunk(hashlib.sha256(content.encode()).hexdigest()[:32], pairs, asks)


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
        counts = {
            what: sum(each[what] for each in self.rounds) for what in ("pairs", "failed", "left")
        }
        return counts | {"rounds": self.rounds, "failed_graders": self.failed}


def watch(project: Project, names: Sequence[str], *how: Any, **stated: Any) -> Watch:
    """Grade the rounds of sentinels (none named: all) as `rounds_of` is told. Raises `BadInput` for
    a sentinel that there is not, or that is wrong."""
    names = names or tuple(project.sentinels)
    if not names:
        raise BadInput(
            f"{project.file}: there are no sentinels",
            'Describe one: [sentinels.NAME] collection = "...", graders = ["..."]',
        )
    chosen = {name: read_sentinel(project, name) for name in names}
    asked = (
        ("sentinel", name, sentinel, grader)
        for name, sentinel in chosen.items()
        for grader in prepare(project, name, sentinel)
    )
    return rounds_of(project, asked, *how, **stated)


def rounds_of(
    project: Project,
    asked: Iterable[tuple[str, str, Watched, Grader]],
    now: bool = False,
    limit: int | None = None,
    max_minutes: float | None = None,
    max_cost: float | None = None,
) -> Watch:
    """Grade a round of each (what it is, its name, its settings, a grader) that is due, or `now` is
    true, until one is stopped. The limits are of all together. A grader that fails is told, and the
    others go on."""
    started, done = time.monotonic(), Watch()
    limits = RoundLimits(limit, max_minutes and 60 * max_minutes, max_cost)
    for what, name, watched_set, grader in asked:
        about = {what: name, "collection": watched_set.collection}
        left = limits.less(
            sum(each["pairs"] for each in done.rounds),
            time.monotonic() - started,
            sum(each["cost"] or 0.0 for each in done.rounds),
        )
        try:
            found = grade_round(project, name, watched_set, grader, now, left)
        except GradelakeError as error:
            console.warn(f"error: {grader.name}: {error}")
            done.failed.append(about | {"grader": grader.name, "reason": str(error)})
            continue
        done.rounds.append(about | found)
        if found["stopped"]:
            break
    return done


def prepare(project: Project, name: str, sentinel: Sentinel) -> list[Grader]:
    """The sentinel's graders; its pairs are drawn if they were not. Raises `BadInput` for what
    cannot be watched, and as `draw`."""
    with Lake.writer(project) as lake:
        ensure_views(lake)
        where = f"{project.file}: [sentinels.{name}] graders"
        graders = [watched(project, lake, where, grader) for grader in sentinel.graders]
        is_new = not n_drawn(lake, sentinel.collection, name)[0]
        n_pairs = draw(lake, name, sentinel, graders)
        if is_new:
            console.tell(f"drew {counted(n_pairs, 'pairs')} that people judged; they never change")
        elif n_pairs != sentinel.pairs:
            has = counted(n_pairs, "pairs")
            console.tell(f"note: it has {has}, as it was drawn, not {sentinel.pairs}")
    return graders


def grade_round(
    project: Project,
    name: str,
    sentinel: Watched,
    grader: Grader,
    now: bool = False,
    limits: RoundLimits = RoundLimits(),
) -> dict[str, Any]:
    """Go on with a grader's round, or begin the next one where it is due, or `now` is true.

    Returns what was done, as an object. Raises as `run.grade` does.
    """
    collection = sentinel.collection
    purpose = f"a round of {name}"
    with (
        Lake.writer(project) as lake,
        grader_lock(project, grader.grader_id, purpose),
        showing_progress() as on_progress,
    ):
        number, n_graded, due_on = round_at_work(lake, name, sentinel, grader, now)
        command = "probe" if name.startswith(OF_PROBES) else "sentinel"
        asked = Asked(collection, command, round=f"{name}/{number}")
        committer = Committer(ReplyLog(lake, grader, asked))
        if recovered := committer.recover():
            console.tell(f"kept {counted(recovered, 'replies')} of an interrupted round")
        key = (collection, name, grader.grader_id, number)
        missing = missing_in_round(lake, grader, key)
        rows = missing if limits.requests is None else missing.head(limits.requests)
        n_asked = rows.height
        totals = Totals(n_graded, missing=missing.height, asked=n_asked, prompts=n_asked)
        is_paid = engine_finder.engine_of(grader).needs_model
        max_cost = limits.cost if is_paid else None
        run = Run(totals, committer.run_id, recovered, counts=committer.counts)
        run.price = price_of(lake, grader, keeps_limit=max_cost is not None)
        run.planned = n_asked
        if run.planned:
            deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
            chunks = _chunks(rows, grader, key)
            work(chunks, committer, run, console.tell, on_progress, deadline, max_cost)
        run.notes = list(committer.notes)
    return {
        "grader": grader.name,
        "grader_id": grader.grader_id,
        "round": number,
        "due_on": due_on and due_on.isoformat(),
        "recovered": recovered,
        "left": missing.height - run.counts["pairs"],
        "cost": run.cost if is_paid else 0.0,
        "currency": run.price and run.price.currency,
        "stopped": run.stopped,
        "notes": run.notes,
        "seconds": round(committer.seconds, 3),
        **{name: run.counts[name] for name in ("pairs", "failed", *TOKENS)},
    }


def round_at_work(
    lake: Lake, name: str, sentinel: Watched, grader: Grader, now: bool
) -> tuple[int, int, date | None]:
    """The round that is at work, or was last: its number, how much of it is graded, and when the
    next one may begin (None: now)."""
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
        sentinel.collection,
        name,
        grader.grader_id,
    )
    if not newest:
        return 1, 0, None
    number, n_graded, began_on = newest[0]
    if n_graded < n_wanted:
        return number, n_graded, None
    due_on = began_on + timedelta(days=sentinel.every_days)
    if now or utc_now().date() >= due_on:
        return number + 1, 0, None
    return number, n_graded, due_on
