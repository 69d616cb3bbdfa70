"""What breaks while a command works: signals, files, the disk, the catalog, a server, a worker."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import psycopg

from tests.end_to_end.faults.small_project import SmallProject
from tests.postgres_server import restart_server

DISK_BYTES = 1 << 30  # of the small file system: room for what 500 faults leave


class Fault:
    """One thing that breaks. `kind` is its row of the table.

    It strikes after `share` of the time that the command takes, or where the command stopped for
    it; one that `seeks` chooses its moment itself. `met` says whether there was anything to break.
    """

    kind = ""
    commands: tuple[str, ...] = ()  # those that it can meet; none are named: all
    seeks = False
    hides_data = False  # readers cannot be served meanwhile
    says = "."  # what a command that fails of it must say

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.share = rng.uniform(0.05, 0.85)
        self.met = False

    def prepare(self, project: SmallProject, environment: dict[str, str]) -> None:
        """What has to be there before the command begins."""

    def strike(self, job) -> None:
        """Break it. Runs in a thread of its own."""
        if job.wait_until(self.share):
            self.hit(job)

    def hit(self, job) -> None:
        """Break it now."""
        raise NotImplementedError

    def undo(self) -> None:
        """Make it whole again, after the command."""


# --- signals --------------------------------------------------------------------------------------


class _Signalled(Fault):
    number: signal.Signals

    def hit(self, job) -> None:
        job.signal(self.number)
        self.met = True


class Killed(_Signalled):
    kind, number = "kill -9: a command", signal.SIGKILL


class Terminated(_Signalled):
    kind, number = "SIGTERM", signal.SIGTERM


class Interrupted(_Signalled):
    kind, number = "SIGINT", signal.SIGINT


class _ProcessKilled(Fault):
    """One of the processes below a command that grades."""

    seeks = True

    @staticmethod
    def is_it(words: list[str]) -> bool:
        """Whether a command line is the victim's."""
        raise NotImplementedError

    def strike(self, job) -> None:
        while job.running:
            if job.below(self.is_it):
                time.sleep(self.share)  # it is at work for two seconds, at least
                if victim := job.below(self.is_it):
                    victim.kill()
                    self.met = True
                return
            time.sleep(0.03)


class ActorKilled(_ProcessKilled):
    kind = "kill -9: a Ray actor"
    commands = ("grade", "generate", "distil")

    @staticmethod
    def is_it(words: list[str]) -> bool:
        return bool(words) and words[0].startswith("ray::Grade")


class EngineKilled(_ProcessKilled):
    kind = "kill -9: an engine's process"
    commands = ("nightly",)

    @staticmethod
    def is_it(words: list[str]) -> bool:
        return len(words) > 1 and words[1].endswith("reader.py")


# --- the file that a command reads ----------------------------------------------------------------


class FileHit(Fault):
    """The file that a command reads becomes another."""

    def strike(self, job) -> None:
        self.work = job.work
        if job.wait_until(self.share) and self.work.file.exists():
            self.hit(job)
            self.met = True

    def undo(self) -> None:
        self.work.file.write_text(self.work.edition(0)[0])
        os.utime(self.work.file, (time.time() - 3600,) * 2)


class FileCut(FileHit):
    kind = "file cut while it is read"

    def hit(self, job) -> None:
        """In the middle of a line."""
        data = self.work.file.read_bytes()
        os.truncate(self.work.file, data.rfind(b"\n", 0, len(data) // 2) + 3)


class FilePoisoned(FileHit):
    kind = "file poisoned while it is read"

    def hit(self, job) -> None:
        with self.work.file.open("r+b") as file:
            file.seek(self.work.file.stat().st_size // 2)
            file.write(b"\0\xff\xfe")


class FileReplaced(FileHit):
    kind = "file replaced while it is read"

    def hit(self, job) -> None:
        other = self.work.file.with_name(".other")
        other.write_text(self.work.edition(1)[0])
        other.rename(self.work.file)


class FileGone(FileHit):
    kind = "file deleted while it is read"

    def hit(self, job) -> None:
        self.work.file.unlink()


# --- the disk -------------------------------------------------------------------------------------


class DiskFull(Fault):
    """Not a byte is left where the lake is, for some seconds or until the command ends."""

    kind = "disk full"
    says = r"disk|no space"

    def hit(self, job) -> None:
        self.ballast = job.desk.folder / "ballast"
        self._fill()
        self.met = True
        deadline = time.monotonic() + self.rng.choice((3, 8, 600))
        while job.running and time.monotonic() < deadline:
            time.sleep(0.2)
            self._fill()  # what the command deletes is taken, too
        self.ballast.unlink()

    def _fill(self) -> None:
        with self.ballast.open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    continue


class ParquetLost(Fault):
    """A data file is not there; it is put back after the night."""

    kind = "Parquet file lost"
    commands = ("nightly",)
    hides_data = True
    says = r"\.parquet"

    def hit(self, job) -> None:
        data = job.desk.folder / "lake" / "data"
        raw = sorted((data / "raw").rglob("*.parquet"))
        self.file = self.rng.choice(raw or sorted(data.rglob("*.parquet")))
        self.kept = job.desk.folder / "kept.parquet"
        self.file.rename(self.kept)
        self.met = True

    def undo(self) -> None:
        if self.met:
            shutil.move(self.kept, self.file)


# --- the catalog ----------------------------------------------------------------------------------


class CatalogLocked(Fault):
    """Another program holds the catalog's write lock; it knows nothing of Gradelake's."""

    kind = "catalog locked"
    seconds: tuple[float, ...] = (1, 2, 3, 3, 35)
    says = "locked"
    HOLD = """
import sqlite3, sys, time
catalog = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
catalog.execute("begin exclusive")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""

    def hit(self, job) -> None:
        catalog = job.desk.folder / "lake" / "catalog.sqlite"
        seconds = self.rng.choice(self.seconds)
        command = [sys.executable, "-c", self.HOLD, str(catalog), str(seconds)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
            self.met = holder.stdout.readline() == "held\n"
            while job.running and holder.poll() is None:
                time.sleep(0.02)
            holder.kill()


class TablesLocked(Fault):
    """Another program holds the table of snapshots, from readers too."""

    kind = "catalog locked"

    def hit(self, job) -> None:
        with psycopg.connect(job.desk.project.dsn) as session:
            session.execute("set lock_timeout = '3s'")  # the command may hold it, where it stopped
            with suppress(psycopg.errors.LockNotAvailable):
                session.execute("lock table ducklake_snapshot in access exclusive mode")
                self.met = True
            until = time.monotonic() + self.rng.uniform(0.5, 3)
            while job.running and time.monotonic() < until:
                time.sleep(0.02)


class ConnectionsEnded(Fault):
    kind = "connections terminated"
    says = r"PostgreSQL|server|connection|terminat"
    END = """
        select pg_terminate_backend(pid) from pg_stat_activity
        where pid != pg_backend_pid() and application_name != 'reader'
    """

    def hit(self, job) -> None:
        with psycopg.connect(job.desk.project.dsn) as session:
            session.execute(self.END)
        self.met = True


class PostgresRestarted(Fault):
    """The catalog's server stops at once, as in a crash, and starts again."""

    kind = "PostgreSQL restarted"
    hides_data = True
    says = ConnectionsEnded.says

    def hit(self, job) -> None:
        restart_server(job.desk.project.dsn)
        self.met = True


class BucketStill(Fault):
    """The bucket's server takes requests and answers none, for some seconds."""

    kind = "S3 does not answer"
    hides_data = True
    says = r"S3|bucket|HTTP|timeout"

    def hit(self, job) -> None:
        self.met = True
        server = psutil.Process(job.desk.bucket.pid)
        server.suspend()
        until = time.monotonic() + self.rng.choice((1, 3, 3, 40))
        while job.running and time.monotonic() < until:
            time.sleep(0.02)
        server.resume()


FILE_HITS: list[type[Fault]] = [FileCut, FilePoisoned, FileReplaced, FileGone]
# a command meets the first of its own when it comes first
PROCESSES: list[type[Fault]] = [EngineKilled, Killed, ActorKilled, Terminated, Interrupted]
