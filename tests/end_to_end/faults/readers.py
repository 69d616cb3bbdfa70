"""Readers that never stop: every answer is one whole release's, and the same whoever asks.

python -m tests.end_to_end.faults.readers FOLDER
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

READERS = 2
PAUSE = 25  # a reader, who shares two cores with the rest, waits so many times as long as it read,
LONGEST = 10  # and no more seconds than these
_SUM = "(select count(*)::varchar || coalesce(sum(hash(rows)::hugeint), 0) from lake.{} as rows)"
_SYSTEMS = "(select list(distinct system order by system) from lake.{})"
QUESTION = "select " + ", ".join(
    [
        *map(_SUM.format, ("raw.run_entries", "raw.grades", "raw.judgments", "raw.rubric_items")),
        _SUM.format("marts.leaderboard"),
        *map(_SYSTEMS.format, ("raw.systems", "raw.run_entries", "marts.leaderboard")),
    ]
)


class Readers:
    """They read while it is open. What they say while it is `hidden` from them does not count."""

    def __init__(self, folder: Path):
        """Each release must have a name that no other has had, for they are told apart by it."""
        self.n_reads = 0
        self.troubles: list[str] = []
        self._hidden: list[tuple[float, float]] = []
        self._seen: dict[str, list] = {}
        self._lock = threading.Lock()
        command = [sys.executable, "-m", "tests.end_to_end.faults.readers", str(folder)]
        self._processes = [
            subprocess.Popen(
                command,
                cwd=Path(__file__).parents[3],
                env=os.environ | {"PGAPPNAME": "reader"},
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(READERS)
        ]
        self._threads = [
            threading.Thread(target=self._listen, args=(process,)) for process in self._processes
        ]
        for thread in self._threads:
            thread.start()

    def _listen(self, process: subprocess.Popen) -> None:
        assert process.stdout
        for line in process.stdout:
            begun, ended, release, answer, trouble = json.loads(line)
            with self._lock:
                if trouble:
                    if not any(begun < last and ended > first for first, last in self._hidden):
                        self.troubles.append(trouble)
                    continue
                self.n_reads += 1
                *_, systems, with_entries, ranked = answer
                if not systems == with_entries == ranked:
                    self.troubles.append(f"{release} is half a release: {answer}")
                if (seen := self._seen.setdefault(release, answer)) != answer:
                    self.troubles.append(f"{release} was {seen}, and is {answer}")
                    self._seen[release] = answer  # said once

    @contextlib.contextmanager
    def hidden(self, really: bool = True) -> Iterator[None]:
        """What they read cannot be reached."""
        if not really:
            yield
            return
        place, first = len(self._hidden), time.monotonic()
        with self._lock:
            self._hidden.append((first, float("inf")))
        yield
        with self._lock:
            self._hidden[place] = (first, time.monotonic())

    def take(self) -> list[str]:
        """What went wrong since this was asked."""
        with self._lock:
            found, self.troubles = self.troubles, []
        gone = [process.pid for process in self._processes if process.poll() is not None]
        return found + [f"reader {pid} is gone" for pid in gone]

    def __enter__(self) -> "Readers":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()
        for thread in self._threads:
            thread.join()


def _read(folder: Path) -> None:
    from gradelake.sql.common.project import Project
    from gradelake.sql.lake.opening import Lake

    project = Project.find(folder)
    os.nice(10)
    while True:
        begun, release, answer, trouble = time.monotonic(), None, None, None
        try:
            with Lake.published(project) as lake:
                release, (answer,) = lake.release, lake.rows(QUESTION)
        except Exception as error:
            trouble = f"a reader got {type(error).__name__}: {error}"
        read = (begun, time.monotonic(), release, answer, trouble)
        print(json.dumps(read), flush=True)
        time.sleep(min(LONGEST, PAUSE * (time.monotonic() - begun)))


if __name__ == "__main__":
    _read(Path(sys.argv[1]))
