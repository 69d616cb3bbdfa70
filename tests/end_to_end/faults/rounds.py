"""Rounds of commands: each is broken a few times, then it must end well."""

import random
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import psutil

from tests.end_to_end.faults.readers import Readers
from tests.end_to_end.faults.starter import Job
from tests.end_to_end.faults.strikes import Fault, FileHit, Killed
from tests.end_to_end.faults.tally import AGAIN, TOLD, Tally
from tests.end_to_end.faults.works import TIMEOUT, Desk, Row, Rows, Work

IN_A_ROW = 3  # faults of a command, at most, before it may end well
# seconds of a command, roughly; of the others 1
SECONDS = {"nightly": 30, "grade": 8, "build": 1.5, "lake copy": 2, "lake recover": 2}
SECONDS |= {"generate": 8, "distil": 8}
AT_FIRST = {"grade": 2}  # faults of a command that comes for the first time
# DuckDB's reader of PostgreSQL ends the process when the server goes while it rolls back: an error
# in a destructor, which no Python sees. What is in the lake is looked at all the same.
_ABORTED = 'Failed to execute query \\"ROLLBACK\\"'
STOPPED = (-signal.SIGKILL, -signal.SIGTERM, 130)


class Errand(Job):
    """A command at work, which a fault strikes."""

    desk: Desk
    work: Work
    at: tuple[str, int] | None
    usual: float

    def wait_until(self, share: float) -> bool:
        """Wait for the point or the moment that was chosen; says whether it is still at work."""
        return self.wait(self.at, share * self.usual)

    def below(self, is_it: Callable[[list[str]], bool]) -> psutil.Process | None:
        """A process that it started, or one of these did, by its command line."""
        with suppress(psutil.Error):
            for child in psutil.Process(self.pid).children(recursive=True):
                with suppress(psutil.Error):
                    if is_it(child.cmdline()):
                        return child
        return None


class Rounds:
    """Faults on one lake, one command after the other, until there were enough."""

    def __init__(
        self,
        desk: Desk,
        kinds: list[type[Fault]],
        seed: int,
        tally: Tally,
        tell: Callable[[str], None],
        only: tuple[str, ...] = (),
    ):
        self.desk = desk
        self.only = only
        self.kinds = kinds
        self.rng = random.Random(seed)
        self.tally = tally
        self.tell = tell
        self.known: Counter[Row] = Counter()  # what was there when somebody looked last
        self._come: dict[str, Counter[str]] = {}  # how often a command came to each point

    def run(self, n_faults: int, until: float = float("inf")) -> None:
        """Until so many faults have met a command, or it is that late."""
        self.aim = self.tally.total + n_faults
        self.desk.must("build")
        with Readers(self.desk.folder) as self.readers:
            while self.tally.total < self.aim and time.monotonic() < until:
                self.tally.rounds += 1
                self._round()
        self.tally.reads += self.readers.n_reads

    def _round(self) -> None:
        """Break the command that came least, of two the one that is named first."""
        costs = {
            kind: self.tally.count(command=kind) * SECONDS.get(kind, 1)
            for kind in self.desk.works()
            if not self.only or kind in self.only
        }
        work = next(filter(None, map(self.desk.work, sorted(costs, key=costs.__getitem__))))
        before = work.before or (self.desk.content() if self.desk.touched else self.known)
        self.desk.touched = self._hit = False
        if gone := self.known - before - Counter(work.goes):
            self._problem(work.kind, f"gone before it began: {sorted(gone)[:3]}")
        in_a_row = min(IN_A_ROW, 1 + self.tally.rounds // len(costs))  # each command once, at first
        if self.tally.count(command=work.kind):
            most = self.rng.randint(1, in_a_row)
        else:
            most = AT_FIRST.get(work.kind, 1)
        for _ in range(min(most, self.aim - self.tally.total)):
            fault = self._fault(work)
            code = self._broken(work, fault, before)
            if (code == 0 and not isinstance(fault, FileHit)) or work.is_done():
                break
        else:
            code, said = self.desk.run(*work.words, given=work.given)
            self.tally.runs += 1
            if code:
                self._problem(work.kind, f"undisturbed, after {fault}: {code} {said[-2000:]}")
        for text in [*self._look(work, before, True), *work.unfinished()]:
            self._problem(work.kind, f"in the end: {text}")

    def _fault(self, work: Work) -> Fault:
        """The kind that this command met least."""
        kinds = [
            kind
            for kind in self.kinds
            if (work.file or not issubclass(kind, FileHit))
            and (not kind.commands or work.kind in kind.commands)
        ]
        return min(kinds, key=lambda kind: self.tally.count(kind.kind, work.kind))(self.rng)

    def _at(self, kind: str) -> tuple[str, int] | None:
        """Where a command stops for its fault; None: at a random moment."""
        come = self._come.get(kind)
        if not come or self.rng.random() < 0.3:
            return None
        point = self.rng.choice(sorted(come))
        return point, self.rng.randint(1, come[point])

    def _broken(self, work: Work, fault: Fault, before: Counter[Row]) -> int:
        """Run a command with a fault, and look at all. Returns its exit code."""
        desk, at = self.desk, None if fault.seeks else self._at(work.kind)
        fault.prepare(desk, {})
        job = Errand(desk.starter, desk.folder, work.words, given=work.given, at=at)
        job.desk, job.work, job.at = desk, work, at
        job.usual = desk.usual.get(work.kind, SECONDS.get(work.kind, 1))
        self.tally.runs += 1
        with self.readers.hidden(fault.hides_data):
            striker = threading.Thread(target=fault.strike, args=(job,))
            striker.start()
            until = time.monotonic() + TIMEOUT
            while striker.is_alive() and not fault.met and time.monotonic() < until:
                time.sleep(0.002)
            job.signal(signal.SIGCONT)
            code, said = job.end(TIMEOUT)
            striker.join()
            fault.undo()
        where = (
            f"at {at[0]!r}, time {at[1]}" if at else f"at {fault.share:.2f} of {job.usual:.1f} s"
        )
        what = f"{work.kind}: {fault.kind} {where}, exit code {code}"
        if code == 0:
            desk.usual[work.kind] = min(job.seconds, desk.usual.get(work.kind, job.seconds))
            self._come[work.kind] = job.come()
            fault.met &= not isinstance(fault, Killed)  # it had ended before
        troubles = self._look(work, before, code == 0, fault)
        troubles += work.wrong(said)
        if fault.met:
            self.tally.ended[work.kind, fault.kind, AGAIN if code in (0, *STOPPED) else TOLD] += 1
            if code == -signal.SIGABRT and _ABORTED in said:
                pass
            elif code not in (0, 1, 2, 3, *STOPPED) or "Traceback (most" in said:
                troubles.append(f"it said {said[-3000:]}")
            elif code in (1, 2, 3) and not re.search(fault.says, said, re.IGNORECASE):
                troubles.append(f"it only said {said[-2000:]}")
        elif code:
            troubles.append(f"failed of nothing: {said[-2000:]}")
        for text in troubles + self.readers.take():
            self._problem(what, text)
        self.tell(f"{self.tally.total} {what}{'' if fault.met else ' (missed)'}")
        return code

    def _look(
        self, work: Work, before: Counter[Row], done: bool, fault: Fault | None = None
    ) -> list[str]:
        """What is wrong with the lake. `done`: the command's rows must be there."""
        if work.before and not work.is_done():  # there is no catalog
            return []
        now = self.desk.content()
        editions = [work.units]
        self._hit |= isinstance(fault, FileHit)
        seen = before if self._hit else self.known | before  # another file takes rows away again
        lost = {row for row in seen - now - Counter(work.goes) if row[0] != work.free}
        doubled = {row for row, n in now.items() if n > 1}
        extra, self.known = {row for row in now - before if row[0] != work.free}, now
        if fault and self._hit and work.edition:
            editions.append([work.edition(1)[1], *work.units[1:]])
        troubles = [] if any(fits(extra, units) for units in editions) else [f"half: {extra}"]
        landed = sum(unit <= extra for unit in work.units)
        if done and not isinstance(fault, FileHit) and landed < (work.due or len(work.units)):
            troubles.append(f"acknowledged and not there: {landed} of {len(work.units)} units")
        unsound = self.desk.faults() if fault else []
        for what, rows in (("lost", lost), ("doubled", doubled), ("unsound", unsound)):
            if rows:
                troubles.append(f"{what}: {sorted(rows)[:5]}")
                if fault:
                    self.tally.harm[work.kind, fault.kind, what] += len(rows)
        return troubles

    def _problem(self, what: str, text: str) -> None:
        self.tally.problems.append(f"{what}: {text}")
        self.tell(f"PROBLEM {what}: {text}")


def fits(extra: set[Row], units: list[Rows]) -> bool:
    """Whether these rows are some of these units, each whole."""
    landed = [unit for unit in units if unit & extra]
    return extra == frozenset().union(*landed)
