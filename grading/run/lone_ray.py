"""A Ray for this process alone: only what runs actors, so that it is there in a second or two."""

import sys
import time

REGISTERS_WITHIN = 30  # seconds, after which Ray says what is wrong


def start(num_cpus: int | None = None) -> None:
    """Start it with so many cores (default: all), and connect. `ray.shutdown()` ends it.

    Raises what `ray.init` raises.
    """
    # where this module cannot be imported, Ray starts its agents without their web servers
    sys.modules.setdefault("ray.dashboard.optional_deps", None)  # type: ignore[arg-type]
    import ray
    from ray._private import node

    class Lone(node.Node):
        """A machine without the processes that others, or people, would look at."""

        def start_api_server(self, **_) -> None:
            """No dashboard; `include_dashboard=False` starts it without its pages."""

        def start_monitor(self) -> None:
            """No autoscaler: there are no other machines."""

        def start_log_monitor(self) -> None:
            """Nobody reads the workers' logs while they work."""

        def start_ray_processes(self) -> None:
            """Also wait until they are there: Ray itself looks once a second only."""
            super().start_ray_processes()
            until = time.monotonic() + REGISTERS_WITHIN
            while not self.get_gcs_client().get_all_node_info() and time.monotonic() < until:
                time.sleep(0.02)

    ordinary, node.Node = node.Node, Lone
    try:
        ray.init(
            "local",
            num_cpus=num_cpus,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            object_store_memory=200 << 20,
            # otherwise a worker for each core starts, also where there is work for one
            _system_config={"prestart_worker_first_driver": False},
        )
    finally:
        node.Node = ordinary
