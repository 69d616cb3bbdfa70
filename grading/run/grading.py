"""Grading with a grader, or all its trials: the capability behind `gradelake grade`."""

import time
from dataclasses import dataclass
from typing import Any

from gradelake.grading.graders.trials import trials_of
from gradelake.grading.plan.planner import Plan, ensure_views
from gradelake.grading.plan.plans import Plans
from gradelake.grading.plan.request import Request
from gradelake.grading.run import grader_run
from gradelake.grading.run.progress import showing_progress
from gradelake.grading.run.run_text import run_as_object
from gradelake.sql.common import console
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake


@dataclass(frozen=True)
class Grading:
    """What the runs of a grader's trials did; most graders have one."""

    runs: list[tuple[Request, grader_run.Run]]
    n_trials: int

    @property
    def exit_code(self) -> int:
        return max(run.exit_code for _, run in self.runs)

    def as_object(self) -> dict[str, Any]:
        """What `grade --json` prints."""
        objects = [run_as_object(*each) for each in self.runs]
        return objects[0] if self.n_trials == 1 else {"trials": objects}


def grade(
    project: Project,
    collection: str,
    grader: str,
    queries: tuple[str, ...] | None = None,
    rubric_version: int | None = None,
    limit: int | None = None,
    retry_failed: bool = False,
    max_minutes: float | None = None,
    max_cost: float | None = None,
    wait: bool = False,
    dry_run: bool = False,
) -> Grading | Plans:
    """Grade what a collection's pool lacks of a grader, `NAME.all` for all its trials.

    Time and money are for all trials together; one that they do not suffice for is not begun.
    With `dry_run` nothing is graded. Raises as `run.grade` does.
    """
    requests = [
        grader_run.requested(project, collection, name, rubric_version, queries, limit)
        for name in trials_of(project, grader)
    ]
    if dry_run:
        with console.working("planning"), Lake.writer(project) as lake:
            ensure_views(lake)
            plans = [(request.grader, Plan(lake, request).totals) for request in requests]
        return Plans(collection, plans)
    done: list[tuple[Request, grader_run.Run]] = []
    began, seconds, money = time.monotonic(), max_minutes and 60 * max_minutes, max_cost
    for request in requests:
        with showing_progress() as progress:
            run = grader_run.grade(
                project, request, console.tell, progress, retry_failed, seconds, money, wait
            )
        done.append((request, run))
        if seconds is not None and max_minutes is not None:
            seconds = began + 60 * max_minutes - time.monotonic()
        money = None if money is None else money - (run.cost_at_most or 0)
        is_spent = any(left is not None and left <= 0 for left in (seconds, money))
        if run.stopped or run.out_of_time or run.out_of_money or is_spent:
            break
    if left := requests[len(done) :]:
        console.tell(f"not begun: {', '.join(request.grader.name for request in left)}")
    return Grading(done, len(requests))
