"""How a run is going: a bar on a terminal, a line now and then elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from gradelake.grading.run.committer import Committer
from gradelake.grading.run.grader_run import Run
from gradelake.sql.common import console
from gradelake.sql.shown.kinds import shown
from gradelake.sql.shown.units import rate


@contextmanager
def showing_progress() -> Iterator[Callable[[Run, Committer], None]]:
    """Yields what is called with a run and its committer, as often as you like."""
    with ExitStack() as stack:
        tell: list[Callable[[int, Callable[[], str]], None]] = []

        def show(run: Run, committer: Committer) -> None:
            if not tell:  # until then other things are shown
                tell.append(stack.enter_context(console.telling("grading", run.planned)))
            tell[0](committer.counts["pairs"], partial(_line, run, committer.seconds))

        yield show


def _line(run: Run, seconds: float) -> str:
    done, left = run.counts["pairs"], ""
    if done:
        left = f", {console.duration((run.planned - done) * seconds / done)} left"
    return f"{done:,} of {run.planned:,} pairs, {rates(run, seconds)}{left}"


def rates(run: Run, seconds: float) -> str:
    """Pairs and tokens per second, and what was skipped or failed."""
    counts = run.counts
    parts = [rate(counts["pairs"] / seconds, "pairs")]
    tokens = counts["prompt_tokens"] + counts["completion_tokens"]
    if tokens:
        parts.append(rate(tokens / seconds, "tokens"))
    if counts["cached_tokens"]:
        share = shown("percent", counts["cached_tokens"] / counts["prompt_tokens"])
        parts.append(f"{share} of them cached")
    if counts["reused"]:
        parts.append(f"{counts['reused']:,} reused")
    if counts["failed"]:
        parts.append(f"{counts['failed']:,} failed")
    return ", ".join(parts)
