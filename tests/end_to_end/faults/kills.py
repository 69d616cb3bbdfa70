"""Faults: what they are, and those that kill a process."""

import random
import re
import time

from tests.end_to_end.faults.night import Night, Told
from tests.end_to_end.faults.room import STAGES, Room
from tests.end_to_end.faults.tally import AGAIN, TOLD

KILLED = re.compile("killed by SIGKILL")
INGEST, PLAN, DIRECT, ASKED, BUILD, DIFF, REPORT, TIDY = STAGES
# what fails between and after the steps
BETWEEN = {"plan", "grade", "the night itself", "closing the night's row"}
GRADING = (DIRECT, ASKED)


class Fault:
    """One thing that breaks. `kind` is its row of the table.

    It strikes once its `stage` has begun (None: it is there before the night), after `share` of
    the time that the step takes. `met` says whether there was anything left to break. `lasting`
    ones may hit every later step, too; those that are not `fatal` leave their own step alive. A
    single command that is broken (`rounds.Errand`) has what a fault asks of a night.
    """

    kind = ""
    stages: tuple[str | None, ...] = STAGES
    lasting = False
    fatal = True
    several = False  # whether a night may have two of the kind
    hides_data = False  # readers cannot be served meanwhile
    says = "."  # what the reason of a step that it stopped must say

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.stage = rng.choice(self.stages)
        self.share = rng.uniform(0.05, 0.85)
        self.met = False

    def __str__(self) -> str:
        return f"{self.kind} in {self.stage or 'the inbox'} at {self.share:.2f}"

    def prepare(self, room: Room, environment: dict[str, str]) -> None:
        """What has to be there before the night begins."""

    def strike(self, night: Night) -> None:
        """Break it. Runs in a thread of its own."""

    def undo(self) -> None:
        """Make it whole again, after the night."""

    def stops(self, night: Night) -> set[str]:
        """The steps that may fail of it."""
        if self.stage is None:
            return set()
        if self.lasting:
            return {*STAGES[STAGES.index(self.stage) :], *BETWEEN}
        return {self.stage}

    def ended(self, told: Told, night: Night) -> str:
        """How the night took it. Raises `AssertionError` when it said nothing a person can use."""
        if told.summary is None:
            return AGAIN  # the night did not live to tell; the next one did its work
        reasons = {step: why for step, why in told.failed.items() if step in self.stops(night)}
        if told.summary["night"] is None:
            reasons["the night"] = told.summary["error"]
        if not isinstance(self, StepKilled):  # that is another's doing
            reasons = {s: why for s, why in reasons.items() if not KILLED.search(why or "")}
        for step, why in reasons.items():
            assert re.search(self.says, why or "", re.I), f"{self}: {step} only said {why!r}"
        return TOLD if reasons else AGAIN


class NightKilled(Fault):
    kind = "kill -9: the night itself"
    lasting = True

    def strike(self, night: Night) -> None:
        night.wait_until(self.stage, self.share)
        self.met = night.running
        night.process.kill()


class StepKilled(Fault):
    """The process of a step; while grading, that is the driver."""

    says = KILLED.pattern

    def strike(self, night: Night) -> None:
        if night.wait_until(self.stage, self.share) and (step := night.step(self.stage)):
            step.kill()
            self.met = True

    def ended(self, told: Told, night: Night) -> str:
        step = told.step(self.stage)
        self.met = self.met and (step is None or step["exit_code"] == -9)
        return super().ended(told, night)


def _step_killed(name: str, *stages: str) -> type[StepKilled]:
    return type("StepKilled", (StepKilled,), {"kind": f"kill -9: {name}", "stages": stages})


class _WorkerKilled(Fault):
    stages = GRADING
    fatal = False
    several = True

    @staticmethod
    def is_it(words: list[str]) -> bool:
        raise NotImplementedError

    def strike(self, night: Night) -> None:
        if not night.wait_until(self.stage, 0):
            return
        while night.is_at(self.stage):
            if night.below(self.is_it):
                time.sleep(self.share)  # it is at work for two seconds, at least
                if victim := night.below(self.is_it):
                    victim.kill()
                    self.met = True
                return
            time.sleep(0.03)


class ActorKilled(_WorkerKilled):
    kind = "kill -9: a Ray actor"

    @staticmethod
    def is_it(words: list[str]) -> bool:
        return bool(words) and words[0].startswith("ray::Grade")


class EngineKilled(_WorkerKilled):
    kind = "kill -9: an engine's process"

    @staticmethod
    def is_it(words: list[str]) -> bool:
        return len(words) > 1 and words[1].endswith("reader.py")


KILLS: list[type[Fault]] = [
    ActorKilled,
    EngineKilled,
    _step_killed("the driver of grading", *GRADING),
    _step_killed("ingest", INGEST),
    _step_killed("build", BUILD),
    _step_killed("plan", PLAN),
    _step_killed("release diff", DIFF),
    _step_killed("report", REPORT),
    _step_killed("lake tidy", TIDY),
    NightKilled,
]
