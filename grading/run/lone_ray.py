"""A Ray for this process alone: only what runs actors, so that it is there in a second or two."""

import os
import secrets
import sys
import time
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

from gradelake.grading.engines._ray_token import has_token

REGISTERS_WITHIN = 30  # seconds, after which Ray says what is wrong
_AGENTS_BY = "_build_python_executable_command_memory_profileable"
_AGENTS_PORTS = ("metrics_agent", "metrics_export", "dashboard_agent_listen", "runtime_env_agent")


def start(num_cpus: int | None = None) -> None:
    """Start it with so many cores (default: all), and connect. `ray.shutdown()` ends it.

    Raises what `ray.init` raises.
    """
    _have_a_token()
    # Ray would import this for its web servers, which takes a second
    sys.modules.setdefault("ray.dashboard.optional_deps", None)  # type: ignore[arg-type]
    import ray
    from ray._private import node, ray_constants, services, utils
    from ray._raylet import persist_port  # type: ignore[attr-defined]

    class Lone(node.Node):
        """A machine without the processes that others, or people, would look at."""

        def start_api_server(self, **_) -> None:
            """No dashboard; `include_dashboard=False` starts it without its pages."""

        def start_monitor(self) -> None:
            """No autoscaler: there are no other machines."""

        def start_log_monitor(self) -> None:
            """Nobody reads the workers' logs while they work."""

        def start_ray_processes(self) -> None:
            """Wait until they are there, too: Ray itself looks once a second only. The agents, of
            metrics and of workers' environments, do not start, so none has a port."""
            for name in _AGENTS_PORTS:
                persist_port(self._session_dir, self._node_id, f"{name}_port", -1)
            super().start_ray_processes()
            until = time.monotonic() + REGISTERS_WITHIN
            while not self.get_gcs_client().get_all_node_info() and time.monotonic() < until:
                time.sleep(0.02)

    with (
        patch.object(node, "Node", Lone),
        # a process that waits stands in for each agent
        patch.object(services, _AGENTS_BY, lambda *_: ["/bin/sh", "-c", "exec cat"]),
        patch.object(ray_constants, "RAY_ENABLE_UV_RUN_RUNTIME_ENV", False),
        # at SIGTERM Ray would first drain the machine, for as long as 30 seconds, and leave with a
        # code of its own; without a handler this process ends at once, and Ray's after it
        patch.object(utils, "set_sigterm_handler"),
    ):
        ray.init(
            "local",
            num_cpus=num_cpus,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            object_store_memory=200 << 20,
            _system_config={
                # otherwise a worker for each core starts, also where there is work for one
                "prestart_worker_first_driver": False,
                # what stands in for agents reads from the machine, until that has ended
                "enable_pipe_based_agent_to_parent_health_check": True,
            },
        )


def _have_a_token() -> None:
    """Write ~/.ray/auth_token where there is none, or, where that cannot be, name one for this
    process. Ray would write it, but of two that start at once one would lose its own."""
    if has_token():
        return
    token = secrets.token_hex(32)
    try:
        file = Path("~/.ray/auth_token").expanduser()
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            written = file.with_name(f"{token}.new")
            written.touch(0o600)
            written.write_text(token)
            with suppress(FileExistsError):  # somebody else was first
                os.link(written, file)
            written.unlink()
    except (OSError, RuntimeError):  # RuntimeError: nobody knows where the home is
        os.environ["RAY_AUTH_TOKEN"] = token
