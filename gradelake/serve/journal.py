"""What people answered, kept on disk until the lake has it; JOURNAL.md says why it is safe."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import TypeAdapter

from gradelake.grading.review.revise import ReviewAnswer, ReviewKey, Undo
from gradelake.grading.review.verdicts import put_answers
from gradelake.sql.common import console
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

_KEY, _ANSWER, _UNDO = TypeAdapter(ReviewKey), TypeAdapter(ReviewAnswer), TypeAdapter(Undo)
Entry = tuple[ReviewKey, ReviewAnswer | Undo]
_LARGEST = 1 << 31  # a grade, or seconds
_PATIENCE = 30.0  # seconds that one server waits for another to write an answer
_SCHEMA = """
    create table if not exists answers (
        id integer primary key autoincrement,
        collection text not null,
        assessor text not null,
        key text not null,
        answer text not null
    ) strict;
    create table if not exists set_aside (entry text not null, reason text not null) strict;
    create table if not exists newest (id integer primary key check (id = 1), at text) strict;
    insert or ignore into newest values (1, '')
"""


class Journal:
    """The answers that wait to be committed. Of use to any thread, and to several servers."""

    def __init__(self, project: Project):
        self._project = project
        self._file = project.lake_path / "reviews" / "answers.sqlite"
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._connection = self._opened()

    def add(self, key: ReviewKey, answer: ReviewAnswer | Undo) -> None:
        """Keep an answer that arrives now; when this returns, a kill does not lose it."""
        with self._writing() as connection:
            ((last,),) = connection.execute("select at from newest")
            at = utc_now()
            if last:  # a clock may go back: what arrives later is later
                at = max(at, datetime.fromisoformat(last) + timedelta(microseconds=1))
            written = json.dumps(vars(answer) | {"at": at.isoformat()})
            connection.execute(
                "insert into answers (collection, assessor, key, answer) values (?, ?, ?, ?)",
                [key.collection, key.assessor, json.dumps(key), written],
            )
            connection.execute("update newest set at = ?", [at.isoformat()])

    def waiting(self, **key: str) -> list[Entry]:
        """The answers that are not known to be in the lake and have these values in their key, in
        the order in which they arrived."""
        return [entry for _, entry in self._read(**key)]

    def commit(self, wait: bool = True) -> int:
        """Bring what waits into the lake, in one commit; returns how many answers. What fails
        stays, and is tried again with the next call.

        With `wait=False`, raises `Busy` at once while another process writes.
        """
        if not (found := self._read()):
            return 0
        entries = [entry for _, entry in found]
        with (
            Lake.writer(self._project) as lake,
            lake.transaction("review", _names(entries), wait) as into,
        ):
            into.say(reviews=sum(change.is_one for change in put_answers(into, entries)))
        with self._writing() as connection:
            connection.executemany("delete from answers where id = ?", [(n,) for n, _ in found])
        return len(entries)

    def close(self) -> None:
        """Close the file; what waits in it is for the next server."""
        with self._lock:
            self._connection.close()

    def _read(self, **key: str) -> list[tuple[int, Entry]]:
        where = " and ".join(f"{name} = :{name}" for name in key) or "true"
        with self._lock:
            rows = self._connection.execute(
                f"select * from answers where {where} order by id", key
            ).fetchall()
        found, wrong = [], []
        for row in rows:
            try:
                found.append((row[0], _entry(*row[-2:])))
            except (ValueError, TypeError) as error:
                wrong.append((row, error))
        for each in wrong:
            self._set_aside(*each)
        return found

    def _set_aside(self, row: tuple, error: Exception) -> None:
        """An entry that nobody's page wrote holds up nobody else's."""
        with self._writing() as connection:
            connection.execute("insert into set_aside values (?, ?)", [json.dumps(row), str(error)])
            connection.execute("delete from answers where id = ?", row[:1])
        console.warn(
            f"{self._file}: entry {row[0]}, of {row[2]}, is no answer and was put into its table "
            f"set_aside: {_first_line(error)}"
        )

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, on the disk at its end. Raises `WorkFailed` for what cannot be kept."""
        with self._lock:
            try:
                self._connection.execute("begin immediate")
                yield self._connection
                self._connection.execute("commit")
            except BaseException as error:
                with suppress(sqlite3.Error):
                    self._connection.execute("rollback")
                if isinstance(error, sqlite3.OperationalError):
                    raise WorkFailed(
                        f"the answer could not be kept: {error}", "Try again in a moment."
                    ) from error
                raise

    def _opened(self) -> sqlite3.Connection:
        """The file, made where it is missing; a damaged one is set aside, and read as far as it
        can be."""
        try:
            return _connect(self._file)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # no right, no space, another's lock
                raise WorkFailed(f"{self._file}: {error}") from error
        aside = self._file.with_suffix(f".damaged-{utc_now():%Y%m%d%H%M%S%f}")
        for ending in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{self._file}{ending}").rename(f"{aside}{ending}")
        rows = _readable(aside)
        connection = _connect(self._file)
        connection.executemany("insert into answers values (?, ?, ?, ?, ?)", rows)
        console.warn(
            f"{self._file} was damaged; {counted(len(rows), 'answers', 'were')} read from it, "
            f"and it is kept as {aside}"
        )
        return connection


def _connect(file: Path) -> sqlite3.Connection:
    """Raises `sqlite3.DatabaseError` for a file that is damaged."""
    connection = sqlite3.connect(
        file, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        connection.executescript(_SCHEMA)
        ((state,),) = connection.execute("pragma quick_check(1)").fetchall()
        if state != "ok":
            raise sqlite3.DatabaseError(state)
    except BaseException:
        connection.close()
        raise
    return connection


def _readable(file: Path) -> list[tuple]:
    """The answers of a damaged file, as far as they can be read."""
    rows: list[tuple] = []
    with suppress(sqlite3.Error, ValueError, TypeError), closing(sqlite3.connect(file)) as damaged:
        for row in damaged.execute("select * from answers order by id"):
            _entry(*row[-2:])
            rows.append(row)
    return rows


def _entry(key: str, answer: str) -> Entry:
    """Raises `ValueError` for what is no answer: a value of another type or size, a time with an
    offset."""
    fields = dict(json.loads(answer))
    found = (_ANSWER if "opinion" in fields else _UNDO).validate_python(fields)
    if found.at is None or found.at.tzinfo:
        raise ValueError(f"at {fields.get('at')!r} is no time in UTC without an offset")
    for name in ("grade", "opinion", "seconds"):
        if not abs(getattr(found, name, None) or 0) < _LARGEST:  # NaN neither
            raise ValueError(f"{name} {fields[name]!r} is too large")
    return _KEY.validate_python(json.loads(key)), found


def _first_line(error: Exception) -> str:
    return ": ".join(line.strip() for line in str(error).splitlines()[1:3]) or str(error)


def _names(entries: list[Entry]) -> str:
    """The names of those whose reviews these are, for the commit's message."""
    collections = sorted({key.collection for key, _ in entries})
    assessors = sorted({key.assessor for key, _ in entries})
    return f"{' '.join(collections)} {', '.join(assessors[:5])}{' ...' * (len(assessors) > 5)}"
