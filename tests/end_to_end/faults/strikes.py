"""Faults of a command: signals, files that change while it reads them, a server's connections."""

import os
import signal
import time

import psycopg

from tests.end_to_end.faults.kills import Fault, NightKilled


class Killed(NightKilled):
    kind = "kill -9: a command"


class _Signalled(Fault):
    number: signal.Signals

    def strike(self, night) -> None:
        if night.wait_until(self.stage, self.share):
            night.signal(self.number)
            self.met = True


class Terminated(_Signalled):
    kind, number = "SIGTERM", signal.SIGTERM


class Interrupted(_Signalled):
    kind, number = "SIGINT", signal.SIGINT


class FileHit(Fault):
    """The file that a command reads becomes another."""

    def strike(self, night) -> None:
        self.work = night.work
        if night.wait_until(self.stage, self.share) and self.work.file.exists():
            self.hit()
            self.met = True

    def hit(self) -> None:
        raise NotImplementedError

    def undo(self) -> None:
        self.work.file.write_text(self.work.edition(0)[0])
        os.utime(self.work.file, (time.time() - 3600,) * 2)


class FileCut(FileHit):
    kind = "file cut while it is read"

    def hit(self) -> None:
        """In the middle of a line."""
        data = self.work.file.read_bytes()
        os.truncate(self.work.file, data.rfind(b"\n", 0, len(data) // 2) + 3)


class FilePoisoned(FileHit):
    kind = "file poisoned while it is read"

    def hit(self) -> None:
        with self.work.file.open("r+b") as file:
            file.seek(self.work.file.stat().st_size // 2)
            file.write(b"\0\xff\xfe")


class FileReplaced(FileHit):
    kind = "file replaced while it is read"

    def hit(self) -> None:
        other = self.work.file.with_name(".other")
        other.write_text(self.work.edition(1)[0])
        other.rename(self.work.file)


class FileGone(FileHit):
    kind = "file deleted while it is read"

    def hit(self) -> None:
        self.work.file.unlink()


class ConnectionsEnded(Fault):
    kind = "connections terminated"
    says = r"PostgreSQL|server|connection|terminat"
    END = """
        select pg_terminate_backend(pid) from pg_stat_activity
        where pid != pg_backend_pid() and application_name != 'reader'
    """

    def strike(self, night) -> None:
        if night.wait_until(self.stage, self.share):
            with psycopg.connect(night.room.project.dsn) as session:
                session.execute(self.END)
            self.met = True


class TablesLocked(Fault):
    """Another program holds the table of snapshots, from readers too."""

    kind = "catalog locked"

    def strike(self, night) -> None:
        if night.wait_until(self.stage, self.share):
            with psycopg.connect(night.room.project.dsn) as session:
                session.execute("lock table ducklake_snapshot in access exclusive mode")
                self.met = True
                until = time.monotonic() + self.rng.uniform(0.5, 3)
                while night.running and time.monotonic() < until:
                    time.sleep(0.02)


FILE_HITS: list[type[Fault]] = [FileCut, FilePoisoned, FileReplaced, FileGone]
SIGNALS: list[type[Fault]] = [Killed, Terminated, Interrupted]
