"""How a run is going: a bar on a terminal, a line now and then elsewhere."""

from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from gradelake.grading.run.grader_run import Run
from gradelake.grading.run.staging import Committer
from gradelake.sql.common import console


class Progress:
    """Call it with a run and its committer as often as you like. Use as a context manager."""

    def __init__(self) -> None:
        self.bar: Bar | None = None
        self.task: TaskID | None = None
        self.line = console.now_and_then(_line)

    def __enter__(self) -> "Progress":
        if console.shows_progress():
            self.bar = Bar(
                TextColumn("grading"),
                BarColumn(),
                TextColumn("{task.completed:,}/{task.total:,} pairs"),
                TextColumn("{task.fields[rates]}"),
                TimeRemainingColumn(),
                console=console.err,
                redirect_stdout=False,  # the crew does, and what ends last would undo it
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar and self.task is not None:
            self.bar.stop()

    def __call__(self, run: Run, committer: Committer) -> None:
        if self.bar:
            if self.task is None:
                self.bar.start()
                self.task = self.bar.add_task("", total=run.planned, rates="")
            done = committer.counts["pairs"]
            self.bar.update(self.task, completed=done, rates=rates(run, committer.seconds))
        else:
            self.line(run, committer.seconds)


def _line(run: Run, seconds: float) -> str:
    done, left = run.counts["pairs"], ""
    if done:
        left = f", {console.duration((run.planned - done) * seconds / done)} left"
    return f"{done:,} of {run.planned:,} pairs, {rates(run, seconds)}{left}"


def rates(run: Run, seconds: float) -> str:
    """Pairs and tokens per second, and what was skipped or failed."""
    counts = run.counts
    parts = [f"{counts['pairs'] / seconds:,.0f} pairs/s"]
    tokens = counts["prompt_tokens"] + counts["completion_tokens"]
    if tokens:
        parts.append(f"{tokens / seconds:,.0f} tokens/s")
    if counts["cached_tokens"]:
        parts.append(f"{counts['cached_tokens'] / counts['prompt_tokens']:.0%} of them cached")
    if counts["reused"]:
        parts.append(f"{counts['reused']:,} reused")
    if counts["failed"]:
        parts.append(f"{counts['failed']:,} failed")
    return ", ".join(parts)
