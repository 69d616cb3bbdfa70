"""What only a PostgreSQL catalog needs: the writer's lock, and its password kept apart."""

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from gradelake.sql.common.errors import BadInput, Busy, Unreachable, WorkFailed, how_to_install
from gradelake.sql.common.project import Project

if TYPE_CHECKING:
    import psycopg

# (connection string, lock) this process holds, and the session that holds it
_held: "dict[tuple[str, str], psycopg.Connection]" = {}


def without_password(project: Project) -> tuple[str, str | None]:
    """The connection string without its password, and the password: drivers repeat the string in
    their errors. Raises `BadInput` when it cannot be read."""
    if not re.search("password|://", project.dsn):  # spare the import
        return project.dsn, None
    conninfo = _psycopg().conninfo
    try:
        parts = conninfo.conninfo_to_dict(project.dsn)
    except _psycopg().Error:  # it may quote the string
        raise BadInput(
            f"{project.file}: [lake] catalog: its connection string cannot be read",
            "Write postgres:dbname=lake host=server user=me, and keep the password in PGPASSWORD.",
        ) from None
    password = parts.pop("password", None)
    return conninfo.make_conninfo("", **parts), password


def _psycopg() -> ModuleType:
    try:
        import psycopg
    except ImportError:
        raise WorkFailed(
            "psycopg is not installed", f"Install it: {how_to_install('postgres')}"
        ) from None
    return psycopg


def connect(project: Project) -> "psycopg.Connection":
    """A session of its own. Raises `Unreachable` when there can be none."""
    dsn, password = without_password(project)
    try:
        return _psycopg().connect(dsn, password=password, autocommit=True)
    except _psycopg().Error as error:
        raise Unreachable(
            f"the PostgreSQL catalog cannot be reached: {str(error).splitlines()[0]}",
            "Is its server running, and may this login use it?",
        ) from None


@contextmanager
def advisory_lock(
    project: Project,
    wait: bool = True,
    name: str = "writer",
    busy: str = "the lake is being written by",
) -> Iterator[None]:
    """Hold a named advisory lock of the catalog in a session of its own; it ends with the process.

    Writers queue here as they do on a file lock: DuckLake has no keys, and its conflict check
    lets two transactions insert the same rows. With `wait=False`, raises `Busy` at once
    when the lock is taken; `busy` begins its message. A process that holds it walks through; where
    the server ended its session meanwhile, it takes the lock anew.
    """
    held, key = (project.dsn, name), zlib.crc32(f"gradelake {name}".encode())
    if session := _held.get(held):
        if not _is_alive(session):
            _held[held] = _locked(project, key, wait, busy)
        yield
        return
    _held[held] = _locked(project, key, wait, busy)
    try:
        yield
    finally:
        _held.pop(held).close()


def _is_alive(session: "psycopg.Connection") -> bool:
    try:
        session.execute("select 1")
    except _psycopg().Error:
        return False
    return True


def _locked(project: Project, key: int, wait: bool, busy: str) -> "psycopg.Connection":
    """A session that holds a lock."""
    session = connect(project)
    try:
        if not session.execute("select pg_try_advisory_lock(%s)", [key]).fetchall()[0][0]:
            if not wait:
                raise Busy(f"{busy} another process", "Try again later.")
            session.execute("select pg_advisory_lock(%s)", [key])
    except BaseException:
        session.close()
        raise
    return session
