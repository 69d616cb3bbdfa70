"""The machines that workers run on: this one, or a Ray cluster that is there already."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from gradelake.grading.engines import Cluster, Workers
from gradelake.grading.engines._ray_token import send_token
from gradelake.grading.run import lone_ray
from gradelake.sql.common.errors import WorkFailed

NO_MACHINE_FOR = 60  # seconds without any machine for a worker, after which the run ends
LOOK_EVERY = 3  # seconds between looks
HEAD_GONE_FOR = 30  # seconds without Ray's head, after which a run ends
FINISHES_WITHIN = 600  # seconds without it, for the chunks at work
LEARN_OF_LOSS = 30  # seconds for a cluster to notice that a machine has died; Ray takes a dozen
LOST = "its node has died"  # what Ray then says of an actor there

_until: ExitStack | None = None  # what ends the Ray that a run starts, instead of the run


@contextmanager
def staying() -> Iterator[None]:
    """The Ray that a run starts stays for the runs after it, until this is left."""
    global _until
    try:
        with ExitStack() as _until:
            yield
    finally:
        _until = None


def join(ray_address: str | None) -> bool:
    """Connect to the cluster at an address, or start Ray here for this process.

    Returns whether it has to be shut down: not where this process had Ray already, or it stays.
    Raises `WorkFailed` when no cluster can be used.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # Ray waits one second to learn why an actor died: too short to tell that its machine did
    os.environ.setdefault("RAY_timeout_ms_task_wait_for_death_info", f"{LEARN_OF_LOSS * 1000}")
    # Ray ends a process that has lost its head for so long, in C++ and with a code of its own: in
    # a minute, unless told otherwise
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", str(FINISHES_WITHIN))
    if ray_address:
        send_token()
    import ray

    if ray.is_initialized():
        return False
    try:
        if ray_address:
            ray.init(ray_address, logging_level="ERROR", log_to_driver=False)
        else:
            lone_ray.start()
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise WorkFailed(
            f"no Ray cluster can be used {ray_address or 'here'}: {str(error).splitlines()[0]}",
            "Check [grading] ray_address. Does Ray run on this machine too (`ray start`), and has "
            "it the cluster's token (~/.ray/auth_token or RAY_AUTH_TOKEN)?"
            if ray_address
            else "",
        ) from error
    if _until is not None:
        _until.callback(ray.shutdown)
    return _until is None


def size() -> Cluster:
    """Cores and GPUs of all machines."""
    import ray

    resources = ray.cluster_resources()
    return Cluster(cpus=int(resources.get("CPU", 1)), gpus=int(resources.get("GPU", 0)))


class RayHead:
    """Ray's head process (`gcs_server`): without it no worker can start."""

    def __init__(self) -> None:
        import ray

        host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
        self._address = host.strip("[]"), int(port)
        self._look_at = time.monotonic()
        self._missed_at: float | None = None
        self.is_gone = False

    def look(self) -> bool:
        """Whether it is gone: it has not answered for a while. Called again and again."""
        now = time.monotonic()
        if now >= self._look_at and not self.is_gone:
            self._look_at = now + LOOK_EVERY
            try:
                socket.create_connection(self._address, LOOK_EVERY).close()
                self._missed_at = None
            except OSError:
                self._missed_at = self._missed_at or now
                self.is_gone = now - self._missed_at >= HEAD_GONE_FOR
        return self.is_gone

    def require(self) -> None:
        """Raise `WorkFailed` when it is gone."""
        if self.is_gone:
            raise WorkFailed(
                "Ray's head process (gcs_server) has ended: was it killed, or is memory short?",
                "What was graded before is in the lake. Run the same command again.",
            )


class Capacity:
    """How many workers of one kind the machines can hold, and for how long they could not."""

    def __init__(self, workers: Workers):
        self.workers = workers
        self._seen_at = self._look_at = time.monotonic()

    def count(self) -> int:
        """Workers that fit on the machines that are there, whatever else runs on them."""
        import ray

        needs = {"CPU": self.workers.cpus, "GPU": self.workers.gpus}
        return sum(
            min(
                (int(node["Resources"].get(what, 0) // n) for what, n in needs.items() if n),
                default=1_000,
            )
            for node in ray.nodes()
            if node["Alive"]
        )

    def require(self, is_there: bool) -> None:
        """Raise `WorkFailed` when for a minute no machine could hold a worker.

        Called again and again; `is_there`: some worker is known to be up.
        """
        now = time.monotonic()
        if is_there:
            self._seen_at = now
        elif now >= self._look_at:
            self._look_at = now + LOOK_EVERY
            if self.count():
                self._seen_at = now
            elif now - self._seen_at > NO_MACHINE_FOR:
                raise WorkFailed(
                    "the cluster has lost every machine that could hold a worker",
                    "What was committed stays. Start the machines again, and run again.",
                )
