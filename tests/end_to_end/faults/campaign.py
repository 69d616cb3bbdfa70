"""Rounds of faults: runs arrive, nights break at several places, the next one makes it good."""

import random
import threading
import time
from collections.abc import Callable

from tests.end_to_end.faults.kills import BUILD, GRADING, INGEST, PLAN, Fault
from tests.end_to_end.faults.night import Night, Told
from tests.end_to_end.faults.readers import Readers
from tests.end_to_end.faults.room import STAGES, Room
from tests.end_to_end.faults.tally import Tally

NIGHTLY = "nightly"
A_NIGHT = 7  # faults of a night, at most
BROKEN = 3  # nights that break, one after the other
TRIES = 2  # nights in which all must be good again


class Campaign:
    """Faults on one lake, one night after the other, until there were enough."""

    def __init__(
        self,
        room: Room,
        kinds: list[type[Fault]],
        seed: int,
        tally: Tally,
        tell: Callable[[str], None],
    ):
        self.room = room
        self.kinds = kinds
        self.rng = random.Random(seed)
        self.tally = tally
        self.tell = tell
        self.met: list[Fault] = []  # in this round

    def run(self, n_faults: int, until: float = float("inf")) -> None:
        """Do rounds until so many faults, or a few more, have met a night of this lake, or it is
        that late by the monotonic clock."""
        aim = self.tally.total + n_faults
        if not self.room.usual:
            self._good_night("the first night")
        with Readers(self.room.folder) as self.readers:
            for _ in range(n_faults + 10):
                if self.tally.total >= aim or time.monotonic() > until:
                    break
                self._round(aim)
            else:
                self.tally.problems.append("too many faults met nothing")
        self.tally.reads += self.readers.n_reads

    def planned(self) -> list[Fault]:
        """Faults for one night that do not exclude each other; kinds that came least come first, in
        their order, and some come twice."""
        chosen: list[Fault] = []
        kinds = sorted(self.kinds, key=lambda kind: self.tally.count(kind.kind, NIGHTLY))
        for kind in kinds + [kind for kind in kinds if kind.several]:
            for _ in range(12):
                fault = kind(self.rng)
                if len(chosen) < A_NIGHT and all(go_together(fault, other) for other in chosen):
                    chosen.append(fault)
                    break
        return chosen

    def _round(self, aim: int) -> None:
        """Nights that break, each with a run that is new, and then nights that do not."""
        self.tally.rounds += 1
        for _ in range(BROKEN):
            if self.tally.total < aim:
                told = self._broken_night()
        before = self.room.grades()
        what = f"after round {self.tally.rounds}"
        self._good_night(what, told)
        self._look(what, self.met, before)
        self.met.clear()

    def _broken_night(self) -> Told:
        before = self.room.grades()
        self.room.drop()
        faults = self.planned()
        what = f"round {self.tally.rounds} ({'; '.join(map(str, faults))})"
        with self.readers.hidden(any(fault.hides_data for fault in faults)):
            told = self._night(faults, what)
        for trouble in self.readers.take():
            self._problem(what, trouble)
        met = [fault for fault in faults if fault.met]
        self.met += met
        self._look(what, met, before)
        missed = ", ".join(fault.kind for fault in faults if not fault.met)
        self.tell(f"{what}: exit code {told.code}; {self.tally.total} faults; missed: {missed}")
        return told

    def _night(self, faults: list[Fault], what: str) -> Told:
        """A night with these faults; says of each how it ended."""
        environment: dict[str, str] = {}
        for fault in faults:
            fault.prepare(self.room, environment)
        self.tally.runs += 1
        with Night(self.room, environment) as night:
            threads = [threading.Thread(target=fault.strike, args=(night,)) for fault in faults]
            for thread in threads:
                thread.start()
            told = night.end()
            for thread in threads:
                thread.join()
        try:
            for fault in [fault for fault in faults if fault.met]:
                try:
                    ended = fault.ended(told, night)
                except AssertionError as error:
                    self._problem(what, str(error))
                    continue
                if fault.met:
                    self.tally.ended[NIGHTLY, fault.kind, ended] += 1
        finally:
            for fault in faults:
                fault.undo()
        may_fail = set().union(*(fault.stops(night) for fault in faults if fault.met))
        for step in set(told.failed) - may_fail:
            self._problem(what, f"{step} failed of nothing: {told.failed[step]}")
        if "Traceback (most recent call last)" in told.words:
            self._problem(what, f"a traceback was shown: {told.words[-3000:]}")
        return told

    def _good_night(self, what: str, told: Told | None = None) -> None:
        """Nights without faults, until one ends well: all must be there then."""
        for attempt in range(TRIES):
            killed = told is not None and told.summary is None
            told = self._night([], what)
            if killed and not told.summary["killed_before"]:
                self._problem(what, "nobody says that the last night was killed")
            if told.code in (0, 3):
                break
            self._problem(what, f"undisturbed night {attempt + 1}: {told.code} {told.failed}")
        for missing in self.room.unfinished():
            self._problem(what, missing)

    def _look(self, what: str, met: list[Fault], before: list[tuple]) -> None:
        lost, doubled = self.room.harm(before)
        unsound = self.room.faults()
        for each, n in (("lost", lost), ("doubled", doubled), ("unsound", len(unsound))):
            for fault in met if n else ():
                self.tally.harm[NIGHTLY, fault.kind, each] += n
        if lost or doubled:
            self._problem(what, f"{lost} grades lost, {doubled} doubled")
        for fault in unsound:
            self._problem(what, fault)

    def _problem(self, what: str, text: str) -> None:
        self.tally.problems.append(f"{what}: {text}")
        self.tell(f"PROBLEM {what}: {text}")


def go_together(one: Fault, other: Fault) -> bool:
    """Whether both can meet the same night: neither keeps it from coming to the other's step."""
    if type(one) is type(other) and one.stage == other.stage is not None:
        return False
    stages = [one.stage, other.stage]
    if None in stages:
        return not any(each.stage is None and each.lasting for each in (one, other))
    if one.stage == other.stage:
        return not (one.fatal and other.fatal) and not (one.lasting or other.lasting)
    first, second = sorted((one, other), key=lambda fault: STAGES.index(fault.stage))
    if not first.fatal:
        return True
    if first.lasting or first.stage == BUILD:
        return False
    return not (first.stage in (INGEST, PLAN) and second.stage in GRADING)
