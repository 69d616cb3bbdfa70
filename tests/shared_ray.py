"""One Ray of two cores for all that a process of tests grades: starting one takes seconds."""

from functools import cache

from gradelake.grading.run import lone_ray


@cache
def start() -> None:
    """Start it, unless it runs; it ends with the process. Its workers have today's environment."""
    lone_ray.start(num_cpus=2)
