"""One Ray of two cores for all that a process of tests grades: starting one takes seconds."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from gradelake.grading.run import crew, lone_ray


@cache
def start() -> None:
    """Start it, unless it runs; it ends with the process. Its workers have today's environment."""
    lone_ray.start(num_cpus=2)


@contextmanager
def warm() -> Iterator[None]:
    """Here, workers that outlive a run serve the next one: starting one takes seconds, too."""
    start()
    waiting: dict[str, list[Any]] = defaultdict(list)  # by what they ask of a machine

    class Warm(crew.Crew):
        def _hire(self) -> None:
            known = waiting[repr(self.options)]
            handle = known.pop() if known else crew._actor_class().options(**self.options).remote()
            self.actors.append(crew._Actor(handle, handle.start.remote(self.worker)))

        def __exit__(self, *error: object) -> None:
            waiting[repr(self.options)] += [actor.handle for actor in self.actors]
            self.actors.clear()
            super().__exit__(*error)

    import ray

    try:
        with pytest.MonkeyPatch.context() as patch:
            for user in ("run.grader_run", "generate.writers"):
                patch.setattr(f"gradelake.grading.{user}.Crew", Warm)
            yield
    finally:
        for handle in (each for known in waiting.values() for each in known):
            ray.kill(handle)
