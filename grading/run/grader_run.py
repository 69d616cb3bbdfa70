"""One run of a grader: plan, grade, commit; stoppable at any moment."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from gradelake.grading.ask.entry import Asked
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.engines import TOKENS
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.configured import configured
from gradelake.grading.plan.planner import GradingPlan, ensure_views
from gradelake.grading.plan.prices import Price, price_of
from gradelake.grading.plan.request import Chunk, GradingRequest, Totals
from gradelake.grading.run.batches import Batched, BatchRun
from gradelake.grading.run.committer import Committer
from gradelake.grading.run.crew import Crew
from gradelake.grading.run.spending import Spending, replies_so_far
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.interrupts import handled
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake


@dataclass
class Run:
    totals: Totals
    run_id: str
    recovered: int = 0  # replies of an interrupted run, which are not asked for again
    planned: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    stopped: bool = False
    out_of_time: bool = False  # some chunks were not begun
    seconds: float = 0.0
    plan_seconds: float = 0.0
    loading_seconds: float = 0.0  # Ray, and engines until the first was ready
    engine_seconds: float = 0.0  # in the engine, summed over the chunks
    commit_seconds: float = 0.0
    workers: int = 0
    notes: list[str] = field(default_factory=list)  # of the engine
    price: Price | None = None
    out_of_money: bool = False  # some chunks were not begun
    uncounted_cost: float | None = None  # of replies without their tokens, at most; None: unknown
    batched: Batched | None = None  # of a grader in batches
    unsent: int = 0  # pairs that it did not submit

    @property
    def retried(self) -> int:
        """Failed pairs that were given another chance."""
        return self.totals.retried

    @property
    def cost(self) -> float | None:
        """What its tokens come to; None where there is no price, or some were not counted."""
        return None if self.counts["uncounted"] else self.cost_at_most

    @property
    def cost_at_most(self) -> float | None:
        """Its cost, with what was reserved for replies that came without their tokens; None where
        there is no price, or nothing was reserved."""
        if self.price is None or (self.counts["uncounted"] and self.uncounted_cost is None):
            return None
        tokens = (self.counts[name] for name in TOKENS)
        return self.price.of(*tokens) + (self.uncounted_cost or 0)

    @property
    def left(self) -> int:
        """Planned pairs without a grade; in batches, those that were not submitted."""
        if self.batched:
            return self.unsent
        return self.planned - self.counts["pairs"]

    @property
    def exit_code(self) -> int:
        """0 done, 3 some pairs failed, 130 stopped by the user."""
        if self.stopped and (self.left or self.batched):
            return 130
        return 3 if self.counts["failed"] else 0


def requested(
    project: Project, collection: str, grader: str, *about: Any, **stated: Any
) -> GradingRequest:
    """What is asked of a grader of gradelake.toml, as `GradingRequest` has it. Raises `BadInput`
    where there is none."""
    with console.working("planning"), Lake.writer(project) as lake:
        return GradingRequest(collection, configured(project, lake, grader), *about, **stated)


def grade(
    project: Project,
    request: GradingRequest,
    tell: Callable[[str], None],
    on_progress: Callable[[Run, Committer], None] = lambda run, committer: None,
    max_seconds: float | None = None,
    max_cost: float | None = None,
    wait: bool = False,
) -> Run:
    """Grade what is missing and commit it chunk by chunk.

    A grader in batches collects what was answered and submits what is missing; with `wait` it does
    so until nothing is under way.

    `tell` gets a line at each step; `on_progress` is called several times a second. After
    `max_seconds` no further chunk is begun; those at work are finished. Nor is one begun that might
    bring the run's cost above `max_cost`, in the currency of `seeds/prices.csv`. Raises `BadInput`
    for a request that cannot be met, or without a price that such a limit needs, and `WorkFailed`
    when the engine cannot work, or when another process is at work with this grader; what was
    committed stays.
    """
    grader = request.grader
    with ReplyLog.of_run(project, grader, Asked(request.collection, "grade")) as log:
        lake, committer = log.lake, Committer(log)
        ensure_views(lake)
        price = price_of(lake, grader, keeps_limit=max_cost is not None)
        recovered = committer.recover()
        if recovered:
            tell(f"kept {counted(recovered, 'replies')} of an interrupted run")
        started = time.monotonic()
        deadline = None if max_seconds is None else started + max_seconds
        if grader.in_batches:
            with stop_signals() as stop:
                batches = BatchRun(
                    committer, price, max_cost, tell, lambda: stop() or _is_past(deadline)
                )
                run = _in_batches(request, batches, wait)
                run.stopped, run.out_of_time = stop(), _is_past(deadline)
            run.recovered = recovered
            return run
        if wait:
            raise BadInput(
                f"{grader.name} does not grade in batches", "Leave --wait out, or set batch = true."
            )
        plan = _planned(lake, request)
        run = Run(plan.totals, committer.run_id, recovered, counts=committer.counts)
        run.plan_seconds = time.monotonic() - started
        run.price = price
        run.planned = plan.planned
        if run.planned:
            work(plan.chunks(), committer, run, tell, on_progress, deadline, max_cost)
        elif not plan.totals.wanted:
            _note_that_it_was_asked(committer)
        run.seconds = committer.seconds
        run.commit_seconds = committer.commit_seconds
        run.notes = list(committer.notes)
        return run


def work(
    chunks: Iterator[Chunk],
    committer: Committer,
    run: Run,
    tell: Callable[[str], None],
    on_progress: Callable[[Run, Committer], None],
    deadline: float | None,
    max_cost: float | None,
) -> None:
    """Have the chunks of a plan graded and committed; `run` has its totals, and counts them. What
    may stop it, and what it raises: as `grade`; `deadline` is of `time.monotonic()`."""
    spending = None
    if max_cost is not None and run.price:
        grader = committer.grader
        _, longest = replies_so_far(committer.lake, grader)
        asks_server = engine_finder.engine_of(grader).has_endpoint
        chunks = spending = Spending(
            run.price, max_cost, grader, chunks, longest=longest, asks_server=asks_server
        )
    committer.begin(run.planned)
    worker, state = committer.worker(), "failed"
    try:
        committer.reuse(run.totals.reusable)
        with ExitStack() as stack:
            crew, started = None, time.monotonic()
            if run.totals.prompts:  # else answers are known, to be compared with other gold ones
                tell(f"starting workers for {committer.grader.name}")
                crew = stack.enter_context(Crew(worker, committer.log))
                run.workers = crew.count
            # Ray handles signals as well: ours have to come after
            stop = stack.enter_context(stop_signals())  # also to who wished for quiet

            def is_over() -> bool:
                run.out_of_time = _is_past(deadline)
                return stop() or run.out_of_time

            known = (worker.compare(chunk) for chunk in takewhile(lambda _: not is_over(), chunks))
            for graded in crew.run(chunks, is_over) if crew else known:
                if graded:
                    committer.add(graded)
                    if spending:
                        spending.settle(graded)
                    run.engine_seconds += graded.seconds
                else:
                    committer.commit_if_due()
                on_progress(run, committer)
            run.stopped = stop()
            if crew:
                run.loading_seconds = (crew.ready_at or time.monotonic()) - started
        run.out_of_money = bool(spending and spending.is_over)
        run.uncounted_cost = spending.uncounted if spending else None
        cut_short = run.stopped or run.out_of_time or run.out_of_money
        state = "stopped" if cut_short and run.left else "done"
    finally:
        committer.finish(state)
        if state == "failed" and run.counts["pairs"]:
            tell(f"{counted(run.counts['pairs'], 'pairs', 'were')} graded before that")


def _note_that_it_was_asked(committer: Committer) -> None:
    """Where the lake has no text of anything cited, nothing supports the answers: they score 0 by
    whoever was asked, which is told by its run."""
    where = "collection = ? and grader_id = ?"
    was_asked = f"select exists (from lake.raw.grading_runs where {where})"
    of = (committer.collection, committer.grader.grader_id)
    if committer.grader.prompt.target == "support" and not committer.lake.value(was_asked, *of):
        committer.begin(0)
        committer.finish("done")


def _is_past(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


def _planned(lake: Lake, request: GradingRequest) -> GradingPlan:
    """What is missing; the present lake forgets the failures of what is asked about again."""
    with console.working("planning"):
        plan = GradingPlan(lake, request)
    if plan.totals.retried:
        _forget_failed(lake, request)
    return plan


def _in_batches(request: GradingRequest, batches: BatchRun, wait: bool) -> Run:
    committer, done, lake = batches.committer, batches.done, batches.lake
    batches.settle(give_up=bool(request.retry))
    plan = _planned(lake, request)
    run = Run(plan.totals, committer.run_id, price=batches.price, batched=done)
    try:
        _submit(committer, batches, plan, run)
        while wait and done.under_way and not batches.is_over():
            batches.pause()
            if batches.settle(give_up=False):
                limit = request.limit and max(0, request.limit - done.submitted)
                _submit(committer, batches, GradingPlan(lake, replace(request, limit=limit)), run)
    finally:
        committer.finish("done")
    run.counts = {name: n + done.counts[name] for name, n in committer.counts.items()}
    run.out_of_money = batches.max_cost is not None and done.out_of_money
    run.notes = [*committer.notes, *done.notes]
    run.seconds, run.commit_seconds = committer.seconds, committer.commit_seconds
    return run


def _submit(committer: Committer, batches: BatchRun, plan: GradingPlan, run: Run) -> None:
    """Submit what a plan asks; what is known already is graded now."""

    def begin() -> None:
        if not committer.began:
            committer.begin(plan.totals.missing)

    def compare(chunk: Chunk) -> None:
        begin()
        committer.add(committer.worker().compare(chunk))

    before = committer.counts["pairs"]
    if plan.totals.reusable:
        begin()
        committer.reuse(plan.totals.reusable)
    submitted = batches.submit(plan, compare)
    run.totals, run.planned = plan.totals, plan.planned
    run.unsent = max(0, run.planned - submitted - (committer.counts["pairs"] - before))


def _forget_failed(lake: Lake, request: GradingRequest) -> None:
    """Take the failed grades of a planned request out of the present lake; its history keeps
    them."""
    with lake.transaction("grade", f"{request.collection} {request.grader.name}") as transaction:
        transaction.run(
            """
            delete from {lake}.raw.grades
            where
                collection = getvariable('collection')
                and grader_id = getvariable('grader_id')
                and status = 'failed'
                and (query_id, passage_id, item_id) in (
                    select (plan_again.query_id, plan_again.passage_id, plan_again.item_id)
                    from plan_again
                )
            """
        )
        transaction.say(failed_grades_to_retry=lake.value("select count(*) from plan_again"))


@contextmanager
def stop_signals() -> Iterator[Callable[[], bool]]:
    """Yields a function that tells whether the user asked to stop (Ctrl-C, or SIGTERM).

    The first time the chunks at work are finished; a second Ctrl-C leaves at once. Signals are
    only caught in a process's main thread.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def on_signal(number, frame):
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        console.warn("stopping: finishing the chunks at work (Ctrl-C again leaves at once)")

    with handled(on_signal):
        yield asked.is_set
