"""One Ray of a core for all that a process of tests grades, whose workers serve run after run:
starting it takes seconds, and so does each worker. More workers: tests/grading/test_cluster.py."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from gradelake.grading.generate import writers
from gradelake.grading.run import crew, grader_run, lone_ray

_waiting: dict[str, list[Any]] = {}  # idle workers by what they ask of a machine; one has the core
_are_kept = True


def install() -> None:
    """Let what grades in this process find it. Its token is none of a home's: tests have several,
    and Ray knows but one in a process, that of the first that it started."""
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    for module in (grader_run, writers):
        vars(module)["Crew"] = _Crew


@contextmanager
def new_workers() -> Iterator[None]:
    """Inside, each run has workers of its own, as in earnest: for what is about workers."""
    global _are_kept
    _let_go()
    _are_kept = False
    try:
        yield
    finally:
        _are_kept = True


@contextmanager
def new_ray() -> Iterator[None]:
    """Inside, runs have a Ray that began with the environment of now."""
    _end()
    try:
        yield
    finally:
        _end()


def _end() -> None:
    import ray

    _waiting.clear()
    ray.shutdown()
    _start.cache_clear()


@cache
def _start() -> None:
    """Its workers have today's environment."""
    lone_ray.start(num_cpus=1)


def _let_go() -> None:
    import ray

    for handles in _waiting.values():
        for handle in handles:
            ray.kill(handle)
    _waiting.clear()


class _Crew(crew.Crew):
    def __enter__(self) -> "_Crew":
        if not self.ray_address:
            _start()
        super().__enter__()
        return self

    def _hire(self) -> None:
        kind = repr(self.options)
        if kind not in _waiting and self.options["num_cpus"]:  # there is no place for both
            _let_go()
        if not (known := _waiting.get(kind)):
            super()._hire()
            return
        self._start(known.pop())

    def __exit__(self, *error: object) -> None:
        if _are_kept:
            idle = [actor for actor in self.actors if not actor.work and actor.ready is None]
            _waiting.setdefault(repr(self.options), []).extend(actor.handle for actor in idle)
            self.actors = [actor for actor in self.actors if actor not in idle]
        super().__exit__(*error)
