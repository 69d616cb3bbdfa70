"""What plan and grade tell at their end, to people and as objects."""

from typing import Any

from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.request import GradingRequest, Totals
from gradelake.grading.prompts.reply import STATUSES
from gradelake.grading.run.batches import Batched
from gradelake.grading.run.grader_run import Run
from gradelake.grading.run.progress import rates
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.shown.units import amount

_COLUMNS = (
    "grader",
    "wanted",
    "graded",
    "of them failed",
    "under way",
    "missing",
    "taken over",
    "prompts to answer",
    "prompt tokens",
    "time",
    "cost",
)


def _time(grader: Grader, seconds: float | None) -> str:
    if grader.in_batches:
        return "within a day"
    return "no rate measured yet" if seconds is None else console.duration(seconds)


def print_plans(plans: list[tuple[Grader, Totals]]) -> None:
    """A table of plans, a row per grader."""
    rows = []
    for grader, totals in plans:
        about = "" if totals.tokens_measured or not totals.prompts else "about "
        asks = engine_finder.engine_of(grader).needs_model
        counts = (totals.wanted, totals.graded, totals.failed, totals.under_way, totals.missing)
        row = [grader.name, *(f"{n:,}" for n in (*counts, totals.shared, totals.prompts))]
        row += [f"{about}{totals.prompt_tokens:,}" if asks else "none"]
        row += [_time(grader, totals.seconds), str(totals.cost or f"no price of {grader.model}")]
        rows.append(dict(zip(_COLUMNS, row, strict=True)))
    is_shown = {
        "under way": any(totals.under_way for _, totals in plans),
        "taken over": any(totals.shared for _, totals in plans),
        "cost": any(engine_finder.engine_of(grader).needs_model for grader, _ in plans),
    }
    columns = [column for column in _COLUMNS if is_shown.get(column, True)]
    console.print_table(columns, [[row[column] for column in columns] for row in rows])
    _warn_of_texts(plans)


def _warn_of_texts(plans: list[tuple[Grader, Totals]]) -> None:
    without_text = max((totals.without_text for _, totals in plans), default=0)
    if without_text:
        console.warn(
            f"note: {counted(without_text, 'pooled passages', 'have')} no text in the lake; "
            "they cannot be graded"
        )
    for grader, totals in plans:
        for slot, n in totals.queries_without.items():
            without = counted(n, "queries", "have")
            console.warn(f"note: {without} no {slot}: there {grader.name} is shown an empty one")


def run_as_object(request: GradingRequest, run: Run) -> dict[str, Any]:
    """A run for programs."""

    def of_run(*names: str) -> dict[str, Any]:
        return {name: getattr(run, name) for name in names}

    of_batches = ("collected", "again", "submitted", "under_way", "reserved")
    seconds = of_run(
        "seconds", "plan_seconds", "loading_seconds", "engine_seconds", "commit_seconds"
    )
    return {
        "collection": request.collection,
        "grader": request.grader.name,
        "grader_id": request.grader.grader_id,
        "run_id": run.run_id,
        "missing": run.totals.missing,
        **of_run("planned", "left", "recovered", "retried", "stopped", "out_of_time"),
        **of_run("out_of_money", "cost", "cost_at_most"),
        "currency": run.price and run.price.currency,
        "notes": run.notes,
        **run.counts,
        **({name: getattr(run.batched, name) for name in of_batches} if run.batched else {}),
        "workers": run.workers,
        **{name: round(n, 3) for name, n in seconds.items()},
    }


def print_runs(runs: list[tuple[GradingRequest, Run]]) -> None:
    """What runs did, and what comes next."""
    for step in dict.fromkeys(filter(None, [_print_run(*each) for each in runs])):
        console.hint(f"next: {step}")


def _print_run(request: GradingRequest, run: Run) -> str | None:
    """What a run did; returns what comes next."""
    name, counts = request.grader.name, run.counts
    if run.batched:
        _print_batches(request, run, run.batched)
    elif not run.planned:
        done = f" ({counted(run.totals.graded, 'pairs')} graded)" if run.totals.graded else ""
        console.say(f"{request.collection}: nothing is missing for {name}{done}")
        return None
    else:
        console.say(
            f"{request.collection}: {name} graded {counted(counts['pairs'], 'pairs')} in "
            f"{console.duration(run.seconds)} ({rates(run, run.seconds)}): {_statuses(run)}"
        )
    if run.price and (counts["pairs"] or not run.batched):
        cost = None if run.cost is None else f"{amount(run.cost)} {run.price.currency}"
        if cost is None and run.cost_at_most is not None:
            cost = f"unknown, at most {amount(run.cost_at_most)} {run.price.currency}"
        console.say(f"cost: {cost or 'unknown'}")
        if counts["uncounted"]:
            replies = counted(counts["uncounted"], "replies")
            console.warn(f"note: no account of tokens came with {replies}")
    for note in run.notes:
        console.warn(f"note: {note}")
    if counts["cut"]:
        cut = counted(counts["cut"], "passages", "were")
        console.say(f"{cut} too long for the model and cut at the end")
    _warn_of_texts([(request.grader, run.totals)])
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
    elif run.batched and run.batched.under_way:
        return "the same command collects them, once they are answered"
    elif counts["pairs"] or not run.batched:
        return "`gradelake build` brings the grades into the marts"
    return None


def _statuses(run: Run) -> str:
    shown = [(run.counts[status], status) for status in STATUSES if run.counts[status]]
    return ", ".join(f"{n:,} {status}" for n, status in shown) or "none"


def _print_batches(request: GradingRequest, run: Run, done: Batched) -> None:
    named = f"{request.collection}: {request.grader.name}"
    if done.batches_collected:
        batches = counted(done.batches_collected, "batches")
        pairs = counted(done.collected, "pairs")
        console.say(f"{named} collected {pairs} of {batches}: {_statuses(run)}")
    if done.again:
        asked = counted(done.again, "pairs", "were")
        console.say(f"{asked} not answered; they are asked about again")
    if done.submitted:
        batches = counted(done.batches_submitted, "batches")
        console.say(f"{named} submitted {counted(done.submitted, 'pairs')} in {batches}")
    if done.under_way:
        what = "nobody knows the price"
        if done.reserved is not None and run.price:
            what = f"at most {amount(done.reserved)} {run.price.currency}"
        console.say(f"{counted(done.under_way, 'pairs', 'are')} under way ({what})")
    elif not (done.batches_collected or run.counts["pairs"] or run.left):
        console.say(f"{named}: nothing is missing ({counted(run.totals.graded, 'pairs')} graded)")
