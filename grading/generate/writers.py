"""Workers that write texts, and all who want to know how it goes."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from gradelake.grading.generate.asking import Generated
from gradelake.grading.generate.generation_worker import GenerationWorker, QueryBatch
from gradelake.grading.run.crew import Crew
from gradelake.grading.run.grader_run import stop_signals
from gradelake.sql.common import console
from gradelake.sql.common.project import Project


@dataclass(kw_only=True)
class WritingRun:
    """What is noted of every run that asks for texts."""

    tokens: int = 0
    stopped: bool = False
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)  # of the engine, each once

    def run_facts(self) -> dict[str, Any]:
        """What `--json` prints of them."""
        return {
            "notes": self.notes,
            "stopped": self.stopped,
            "tokens": self.tokens,
            "seconds": round(self.seconds, 3),
        }


@dataclass
class Writers:
    """A crew at work on one run's batches."""

    crew: Crew
    stop: Callable[[], bool]
    outcome: Any  # of the run: a `WritingRun`
    tell: Callable[[str], None]
    on_progress: Callable[[Any], None]

    def ask(self, batches: Iterable[QueryBatch]) -> Iterator[list[Generated]]:
        """What became of each batch, as it comes in."""
        for account in self.crew.run(iter(batches), self.stop):
            if account:
                for note in account.notes:
                    if note not in self.outcome.notes:
                        self.outcome.notes.append(note)
                        self.tell(f"note: {note}")
                self.outcome.tokens += sum(one.tokens for one in account.generated)
                yield account.generated
            self.on_progress(self.outcome)


@contextmanager
def writers(
    project: Project,
    request: Any,
    outcome: WritingRun,
    tell: Callable[[str], None],
    on_progress: Callable[[Any], None],
) -> Iterator[Writers]:
    """The workers of a request's grader; a signal of the user's stops them."""
    console.tell(f"starting workers for {request.grader.name}")
    # Ray handles signals as well: ours have to come after
    with (
        Crew(GenerationWorker(request.grader), project.grading.get("ray_address")) as crew,
        stop_signals(tell) as stop,
    ):
        yield Writers(crew, stop, outcome, tell, on_progress)
        outcome.stopped = stop()
