"""Faults of what a night stands on: disk, files, the catalog, the clock, a server."""

import gzip
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.end_to_end.faults.clock import ClockBack
from tests.end_to_end.faults.kills import BETWEEN, BUILD, DIFF, INGEST, PLAN, REPORT, Fault
from tests.end_to_end.faults.night import Night, Told
from tests.end_to_end.faults.room import QUERIES, STAGES, Room
from tests.end_to_end.faults.tally import TOLD
from tests.postgres_server import restart_server

DISK_BYTES = 160 << 20  # of the small file system


class DiskFull(Fault):
    """Not a byte is left where the lake is, for some seconds or to the end of the night."""

    kind = "disk full"
    lasting = True
    says = r"disk|no space"

    def strike(self, night: Night) -> None:
        if not night.wait_until(self.stage, self.share):
            return
        self.ballast = night.room.folder / "ballast"
        self._fill()
        self.met = True
        seconds = self.rng.choice((3, 8, 600))
        deadline = time.monotonic() + seconds
        while night.running and time.monotonic() < deadline:
            time.sleep(0.2)
            self._fill()  # what the night deletes is taken, too
        self.ballast.unlink()

    def _fill(self) -> None:
        with self.ballast.open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    continue


class CatalogLocked(Fault):
    """Another program holds the catalog's write lock; it knows nothing of Gradelake's."""

    kind = "catalog locked"
    lasting = True
    seconds: tuple[float, ...] = (30.0,)
    says = "locked"
    HOLD = """
import sqlite3, sys, time
catalog = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
catalog.execute("begin exclusive")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""

    def strike(self, night: Night) -> None:
        if not night.wait_until(self.stage, self.share / 3):
            return
        catalog = night.room.folder / "lake" / "catalog.sqlite"
        seconds = self.rng.choice(self.seconds)
        command = [sys.executable, "-c", self.HOLD, str(catalog), str(seconds)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
            self.met = holder.stdout.readline() == "held\n"
            while night.running and holder.poll() is None:
                time.sleep(0.02)
            holder.kill()


class _BadFile(Fault):
    stages = (None,)
    fatal = False
    several = True

    def prepare(self, room: Room, environment: dict[str, str]) -> None:
        number = len(room.refused)
        inbox = room.folder / "inbox"
        name = self.put(inbox, f"bad{number:03d}")
        room.refused[name] = f"bad{number:03d}"
        self.met = True

    def put(self, inbox: Path, system: str) -> str:
        """Lay the file into the inbox; returns its name there."""
        raise NotImplementedError

    def ended(self, told: Told, night: Night) -> str:
        return TOLD  # the room looks for the reason beside each of these files


class Unreadable(_BadFile):
    kind = "unreadable file in the inbox"

    def put(self, inbox: Path, system: str) -> str:
        what = self.rng.choice(("link", "pipe", "folder", "rights"))
        file = inbox / f"{system}.run"
        if what == "link":
            file.symlink_to("nowhere")
        elif what == "pipe":
            os.mkfifo(file)
        elif what == "folder":
            file.mkdir()
            file = file / f"{system}.part"
            file.write_text("q001 Q0 p000 1 1 x\n")
        elif os.geteuid() == 0:  # who may read everything
            file = inbox / f"{system}.dat"
            file.write_bytes(os.urandom(100))
        else:
            file.write_text("q001 Q0 p000 1 1 x\n")
            file.chmod(0)
        os.utime(file, (time.time() - 3600,) * 2, follow_symlinks=False)
        return file.name


class Corrupted(_BadFile):
    kind = "corrupted file in the inbox"

    def put(self, inbox: Path, system: str) -> str:
        good = "".join(
            f"{query} Q0 p{n:03d} {n} {90 - n} {system}\n" for query in QUERIES for n in range(40)
        ).encode()
        packed = gzip.compress(good)
        middle = len(packed) // 2
        flipped = bytes(byte ^ 0x55 for byte in packed[middle : middle + 9])
        name, content = self.rng.choice(
            (
                (f"{system}.run.gz", packed[:middle]),
                (f"{system}.run.gz", packed[:middle] + flipped + packed[middle + 9 :]),
                (f"{system}.run", good.replace(b" 75 ", b" NaN ")),
                (f"{system}.run", good[: len(good) // 2] + b"\0\xff\xfe" + good[len(good) // 2 :]),
                (f"{system}.jsonl", b'{"system": "x", "query_id": "q001", "te'),
            )
        )
        (inbox / name).write_bytes(content)
        os.utime(inbox / name, (time.time() - 3600,) * 2)
        return name


class ParquetLost(Fault):
    """A data file is not there; it is put back after the night."""

    kind = "Parquet file lost"
    stages = (None, INGEST, PLAN, BUILD, DIFF, REPORT)
    lasting = True
    hides_data = True
    says = r"\.parquet"

    def prepare(self, room: Room, environment: dict[str, str]) -> None:
        if self.stage is None:
            self._lose(room)

    def strike(self, night: Night) -> None:
        if self.stage and night.wait_until(self.stage, self.share):
            self._lose(night.room)

    def _lose(self, room: Room) -> None:
        data = room.folder / "lake" / "data"
        raw = sorted((data / "raw").rglob("*.parquet"))
        self.file = self.rng.choice(raw or sorted(data.rglob("*.parquet")))
        self.kept = room.folder / "kept.parquet"
        self.file.rename(self.kept)
        self.met = True

    def stops(self, night: Night) -> set[str]:
        return {*STAGES, *BETWEEN}

    def ended(self, told: Told, night: Night) -> str:
        found = [line for line in night.room.faults() if self.file.name in line]
        ended = super().ended(told, night)
        return TOLD if found else ended

    def undo(self) -> None:
        if self.met:
            shutil.move(self.kept, self.file)


class PostgresRestarted(Fault):
    """The catalog's server stops at once, as in a crash, and starts again."""

    kind = "PostgreSQL restarted"
    several = True
    hides_data = True
    says = r"PostgreSQL|server|connection|terminat"

    def strike(self, night: Night) -> None:
        if not night.wait_until(self.stage, self.share):
            return
        restart_server(night.room.project.dsn)
        self.met = True

    def stops(self, night: Night) -> set[str]:
        """Who holds an old connection fails later."""
        return {*STAGES[STAGES.index(self.stage) :], *BETWEEN}


FILES: list[type[Fault]] = [Unreadable, Corrupted]


def possible_here(has_small_disk: bool) -> tuple[list[type[Fault]], dict[str, str]]:
    """Kinds that can be tried on this machine, and why the others cannot."""
    kinds, left_out = [CatalogLocked, *FILES, ParquetLost], {}
    for kind, there, why in (
        (DiskFull, has_small_disk, "no small file system could be mounted (is this root?)"),
        (ClockBack, shutil.which("gcc"), "there is no gcc to make the clock that jumps"),
    ):
        if there:
            kinds.append(kind)
        else:
            left_out[kind.kind] = why
    return kinds, left_out
