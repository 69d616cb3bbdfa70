"""What plan and grade tell at their end, to people and as objects."""

from typing import TYPE_CHECKING, Any

from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.request import Request, Totals
from gradelake.grading.run.progress import rates
from gradelake.sql.common import console
from gradelake.sql.common.counted import amount, counted

if TYPE_CHECKING:
    from gradelake.grading.run.run import Run


def plan_as_object(grader: Grader, totals: Totals) -> dict[str, Any]:
    """A plan for programs."""
    return {
        "grader": grader.name,
        "grader_id": grader.grader_id,
        "wanted_pairs": totals.wanted,
        "graded_pairs": totals.graded,
        "failed_pairs": totals.failed,
        "missing_pairs": totals.missing,
        "reusable_pairs": totals.reusable,
        "prompts": totals.prompts,
        "prompt_tokens": totals.prompt_tokens,
        "tokens_measured": totals.tokens_measured,
        "pairs_per_second": totals.pairs_per_second,
        "seconds": _seconds(totals),
        "cost": totals.cost and totals.cost.as_object(),
        "passages_without_text": totals.without_text,
    }


def _seconds(totals: Totals) -> float | None:
    return totals.asked / totals.pairs_per_second if totals.pairs_per_second else None


def print_plans(plans: list[tuple[Grader, Totals]]) -> None:
    """A table of plans, a row per grader."""
    calls_model = any(engine_finder.engine_of(grader).needs_model for grader, _ in plans)
    rows = []
    for grader, totals in plans:
        seconds = _seconds(totals)
        about = "" if totals.tokens_measured or not totals.prompts else "about "
        tokens = f"{about}{totals.prompt_tokens:,}"
        row = [
            grader.name,
            f"{totals.wanted:,}",
            f"{totals.graded:,}",
            f"{totals.failed:,}",
            f"{totals.missing:,}",
            f"{totals.prompts:,}",
            tokens if engine_finder.engine_of(grader).needs_model else "none",
            "no rate measured yet" if seconds is None else console.duration(seconds),
        ]
        if calls_model:
            row.append(str(totals.cost or f"no price of {grader.model}"))
        rows.append(row)
    columns = [
        "grader",
        "wanted",
        "graded",
        "of them failed",
        "missing",
        "prompts to answer",
        "prompt tokens",
        "time",
        *(["cost"] if calls_model else []),
    ]
    console.print_table(columns, rows)
    without_text = max((totals.without_text for _, totals in plans), default=0)
    if without_text:
        console.warn(
            f"note: {counted(without_text, 'pooled passages', 'have')} no text in the lake; "
            "they cannot be graded"
        )


def run_as_object(request: Request, run: "Run") -> dict[str, Any]:
    """A run for programs."""
    return {
        "collection": request.collection,
        "grader": request.grader.name,
        "grader_id": request.grader.grader_id,
        "batch_id": run.batch_id,
        "missing": run.totals.missing,
        "planned": run.planned,
        "left": run.left,
        "recovered": run.recovered,
        "retried": run.retried,
        "stopped": run.stopped,
        "out_of_time": run.out_of_time,
        "out_of_money": run.out_of_money,
        "cost": run.cost,
        "currency": run.price and run.price.currency,
        "notes": run.notes,
        **run.counts,
        "workers": run.workers,
        "seconds": round(run.seconds, 3),
        "plan_seconds": round(run.plan_seconds, 3),
        "loading_seconds": round(run.loading_seconds, 3),
        "engine_seconds": round(run.engine_seconds, 3),
        "commit_seconds": round(run.commit_seconds, 3),
    }


def print_run(request: Request, run: "Run") -> None:
    """What a run did, and what comes next."""
    name, counts = request.grader.name, run.counts
    if not run.planned:
        done = f" ({counted(run.totals.graded, 'pairs')} graded)" if run.totals.graded else ""
        console.say(f"{request.collection}: nothing is missing for {name}{done}")
        return
    what = ", ".join(
        f"{counts[status]:,} {status}"
        for status in ("ok", "unanswerable", "defaulted", "failed")
        if counts[status]
    )
    console.say(
        f"{request.collection}: {name} graded {counted(counts['pairs'], 'pairs')} in "
        f"{console.duration(run.seconds)} ({rates(run, run.seconds)}): {what or 'none'}"
    )
    if run.price and run.cost is not None:
        console.say(f"cost: {amount(run.cost)} {run.price.currency}")
    for note in run.notes:
        console.warn(f"note: {note}")
    if counts["cut"]:
        cut = counted(counts["cut"], "passages", "were")
        console.say(f"{cut} too long for the model and cut at the end")
    if run.totals.without_text:
        without_text = counted(run.totals.without_text, "pooled passages", "have")
        console.warn(f"note: {without_text} no text in the lake")
    if counts["failed"]:
        console.warn(
            f"{counted(counts['failed'], 'pairs')} failed; see them with `gradelake build` and "
            "`gradelake sql @failed_grades`, try again with --retry-failed"
        )
    if run.out_of_money:
        console.warn("no further pair was sure to stay within --max-cost")
    if run.left:
        console.warn(
            f"{counted(run.left, 'pairs', 'are')} left; the same command continues with them"
        )
    elif not run.left and request.limit and run.totals.missing > run.planned:
        left = run.totals.missing - run.planned
        beyond = f"{counted(left, 'pairs', 'are')} left beyond --limit"
        console.say(f"{beyond}; the same command continues with them")
    else:
        console.hint("next: `gradelake build` brings the grades into the marts")
