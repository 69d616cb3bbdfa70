"""A night at work: what it says, the processes that do it, and whether readers are served."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psutil

from tests.end_to_end.faults.room import STAGES, Room

TIMEOUT = 900  # seconds; a night takes one minute


@dataclass
class Told:
    """How a night ended: its exit code, its summary (None: it was killed) and all it printed."""

    code: int
    summary: dict[str, Any] | None
    words: str

    def step(self, name: str) -> dict[str, Any] | None:
        """A step that was begun, with its state and exit code."""
        steps = (self.summary or {}).get("steps", ())
        return next((each for each in steps if each["step"] == name), None)

    @property
    def failed(self) -> dict[str, str]:
        """Why each step failed that failed."""
        failed = (self.summary or {}).get("failed", ())
        return {each["step"]: each["reason"] for each in failed if each["state"] == "failed"}


class Night:
    """`gradelake nightly`, begun now."""

    def __init__(self, room: Room, environment: dict[str, str]):
        self.room = room
        self._begun: list[str] = []
        self._said: list[str] = []
        self._changed = threading.Condition()
        self._out: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gradelake", "nightly", "--json"],
            cwd=room.folder,
            env=os.environ | environment,
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._listeners = [
            threading.Thread(target=self._listen, daemon=True),
            threading.Thread(target=lambda: self._out.extend(self.process.stdout), daemon=True),
        ]
        for thread in self._listeners:
            thread.start()

    def _listen(self) -> None:
        for line in self.process.stderr:
            with self._changed:
                self._said.append(line)
                if (stage := line.removesuffix(" ...\n")) in STAGES:
                    self._begun.append(stage)
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def wait_until(self, stage: str, share: float) -> bool:
        """Wait for a step to begin, and until that share of its usual time has gone by. Returns
        whether the night is still at that step."""
        with self._changed:
            while stage not in self._begun:
                if not self.running:
                    return False
                self._changed.wait(0.2)
        time.sleep(share * self.room.usual.get(stage, 3.0))
        return self.is_at(stage)

    def is_at(self, stage: str) -> bool:
        """Whether the night has begun this step, and not yet another."""
        return self.running and self._begun[-1] == stage

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def step(self, stage: str) -> psutil.Process | None:
        """The process of a step, if it is at work."""
        return next(self._find(lambda words: all(w in words for w in stage.split()), False), None)

    def below(self, what: Callable[[list[str]], bool]) -> psutil.Process | None:
        """A process that a step started, by its command line."""
        return next(self._find(what, True), None)

    def _find(self, what, recursive):
        try:
            for child in psutil.Process(self.process.pid).children(recursive=recursive):
                try:
                    if what(child.cmdline()):
                        yield child
                except psutil.Error:
                    continue
        except psutil.Error:
            return

    def __enter__(self) -> "Night":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()  # whoever watched it is gone

    def end(self) -> Told:
        """Wait for the night to end."""
        try:
            code = self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
            self._said.append(f"it took more than {TIMEOUT} s\n")
        for thread in self._listeners:
            thread.join(timeout=10)  # what was killed may have left somebody who holds the pipe
        lines = "".join(self._out).splitlines()
        told = Told(code, json.loads(lines[-1]) if lines else None, "".join(self._said))
        for each in (told.summary or {}).get("steps", ()):
            if each["state"] in ("done", "partly"):
                usual = self.room.usual
                usual[each["step"]] = min(each["seconds"], usual.get(each["step"], each["seconds"]))
        return told
