"""One Ray of two cores for all that a process of tests grades: starting one takes seconds."""

from functools import cache


@cache
def start() -> None:
    """Start it, unless it runs; it ends with the process. Its workers have today's environment."""
    import ray

    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=200 << 20,
    )
