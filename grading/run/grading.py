"""Grading with graders, or all their trials: the capability behind `gradelake grade`."""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from gradelake.grading.graders.trials import trials_of
from gradelake.grading.plan.planner import GradingPlan, ensure_views
from gradelake.grading.plan.plans import Plans
from gradelake.grading.plan.request import FAILURES, GradingRequest
from gradelake.grading.run import grader_run, machines
from gradelake.grading.run.progress import showing_progress
from gradelake.grading.run.run_text import run_as_object
from gradelake.sql.common import console
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake


@dataclass(frozen=True)
class Grading:
    """What the runs of graders did, or of a grader's trials."""

    runs: list[tuple[GradingRequest, grader_run.Run]]
    noun: str  # what there is a run of: "grader" where there can be one only, "graders" or "trials"

    @property
    def exit_code(self) -> int:
        return max(run.exit_code for _, run in self.runs)

    def as_object(self) -> dict[str, Any]:
        """What `grade --json` prints."""
        objects = [run_as_object(*each) for each in self.runs]
        return objects[0] if self.noun == "grader" else {self.noun: objects}


def grade(
    project: Project,
    collection: str,
    graders: Sequence[str],
    queries: tuple[str, ...] | None = None,
    rubric_version: int | None = None,
    limit: int | None = None,
    retry_failed: bool = False,
    max_minutes: float | None = None,
    max_cost: float | None = None,
    wait: bool = False,
    dry_run: bool = False,
    retry: Sequence[str] = (),
    reread: bool = False,
) -> Grading | Plans:
    """Grade what a collection's pool lacks of graders, `NAME.all` for all trials of one.

    What failed for want of a reply is asked about again, but not for ever; `retry` has other
    `FAILURES` to ask about again, and `retry_failed` means all. `reread` reads the replies that
    another parser of the same grader was given, and asks nothing. Time and money are for all of
    them together; what they do not suffice for is not begun. With
    `dry_run` nothing is graded. Raises as `run.grade` does.
    """
    again = FAILURES if retry_failed else tuple(retry)
    asked = (rubric_version, queries, limit, again, reread)
    requests = [
        grader_run.requested(project, collection, name, *asked)
        for name in dict.fromkeys(chain(*(trials_of(project, grader) for grader in graders)))
    ]
    if dry_run:
        with console.working("planning"), Lake.writer(project) as lake:
            ensure_views(lake)
            plans = [(request.grader, GradingPlan(lake, request).totals) for request in requests]
        return Plans(collection, plans)
    done: list[tuple[GradingRequest, grader_run.Run]] = []
    began, seconds, money = time.monotonic(), max_minutes and 60 * max_minutes, max_cost
    waiting, is_over = deque(requests), False
    with machines.staying():
        try:
            while waiting and not is_over:
                request = waiting.popleft()
                with showing_progress() as progress:
                    run = grader_run.grade(
                        project, request, console.tell, progress, seconds, money, wait
                    )
                done.append((request, run))
                if seconds is not None and max_minutes is not None:
                    seconds = began + 60 * max_minutes - time.monotonic()
                money = None if money is None else money - (run.cost_at_most or 0)
                is_spent = any(left is not None and left <= 0 for left in (seconds, money))
                is_over = run.stopped or run.out_of_time or run.out_of_money or is_spent
        finally:
            if waiting:
                names = ", ".join(request.grader.name for request in waiting)
                console.tell(f"not begun: {names}")
    if len(requests) == 1:
        return Grading(done, "grader")
    return Grading(done, "trials" if len(graders) == 1 else "graders")
