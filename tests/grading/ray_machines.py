"""A real Ray cluster of several machines on this one: `ray start` for each, as an operator would.

A machine may have a file system of its own below one folder: it runs in a mount namespace where an
empty one lies over it.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.places import REPOSITORY

RAY = Path(sys.executable).with_name("ray")
_HIDING = 'mount -t tmpfs none "$1" && mkdir -p "$2" && shift 2 && exec "$@"'
_UNSHARE = ("unshare", "--mount", "--map-root-user")


def can_hide() -> bool:
    """Whether this system lets us give a process its own view of the file system."""
    probe = [*_UNSHARE, "mount", "-t", "tmpfs", "none", "/tmp"]
    return (
        bool(shutil.which("unshare"))
        and not subprocess.run(probe, capture_output=True, check=False).returncode
    )


@dataclass
class Machine:
    """One `ray start`."""

    process: subprocess.Popen
    log: Path

    def raylet(self) -> psutil.Process:
        """Ray's process of the machine, which starts all others there."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        return next(child for child in children if child.name() == "raylet")

    def kill(self) -> None:
        """As a machine that loses its power."""
        self.raylet().send_signal(signal.SIGKILL)


class Cluster:
    """Machines with a token of their own. Use as a context manager."""

    def __init__(self):
        # sockets are in there too, so the path has to be short
        self.folder = Path(tempfile.mkdtemp(prefix="gl", dir="/tmp"))
        self.address = f"127.0.0.1:{_free_port()}"
        self.environment = {"RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0"}
        self.machines: list[Machine] = []

    def __enter__(self) -> "Cluster":
        return self

    def start(
        self, hide: Path | None = None, instead: Path | None = None, cores: int = 1
    ) -> Machine:
        """Start a machine, the first one as the head, and wait until it has joined.

        One after the other: two that start at once on one machine choose the same sockets.
        `hide` is a folder that is empty there, but for the folder `instead` below it.
        """
        if self.machines:
            place = [f"--address={self.address}"]
        else:
            place = [
                "--head",
                f"--port={self.address.rpartition(':')[2]}",
                f"--temp-dir={self.folder}/ray",
                "--include-dashboard=false",
                f"--ray-client-server-port={_free_port()}",
            ]
        command = [
            str(RAY),
            "start",
            *place,
            f"--num-cpus={cores}",
            "--object-store-memory=100000000",
            f"--dashboard-agent-listen-port={_free_port()}",
            "--block",
        ]
        if hide:
            command = [*_UNSHARE, "sh", "-c", _HIDING, "sh", str(hide), str(instead), *command]
        log = self.folder / f"{len(self.machines)}.log"
        with log.open("w") as out:
            known = os.environ | self.environment | before(place[0].partition("=")[0])
            process = subprocess.Popen(
                command, stdout=out, stderr=out, start_new_session=True, env=known
            )
        self.machines.append(Machine(process, log))
        deadline = time.monotonic() + 90
        while "Ray runtime started" not in (told := log.read_text()):
            assert process.poll() is None, told
            assert time.monotonic() < deadline, told
            time.sleep(0.1)
        return self.machines[-1]

    def __exit__(self, *_: object) -> None:
        started = [machine.process for machine in self.machines]
        below = [
            child
            for process in started
            if process.poll() is None
            for child in psutil.Process(process.pid).children(recursive=True)
        ]
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for child in below:
            if child.is_running():
                child.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def before(option: str) -> dict[str, str]:
    """The variables that the page on several machines puts before `ray start` with this option."""
    page = (REPOSITORY / "grading/README.md").read_text(encoding="utf-8")
    (stated,) = re.findall(rf"\$ ((?:\w+=\S+ )*)ray start {option}", page)
    return dict(each.split("=", 1) for each in stated.split())


def require_linux() -> None:
    """Skip where Ray cannot have several machines."""
    if sys.platform != "linux":
        pytest.skip("Ray forms clusters on Linux only")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
