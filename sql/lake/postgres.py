"""What only a PostgreSQL catalog needs: the writer's lock, and errors without secrets."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gradelake.sql.common.errors import Busy, WorkFailed, how_to_install
from gradelake.sql.common.project import Project

if TYPE_CHECKING:
    import psycopg

_held: set[tuple[str, str]] = set()  # (connection string, lock) this process holds


def connect(project: Project) -> "psycopg.Connection":
    """A session of its own. Raises `WorkFailed`, without secrets, when there can be none."""
    try:
        import psycopg
    except ImportError:
        raise WorkFailed(
            "psycopg is not installed", f"Install it: {how_to_install('postgres')}"
        ) from None
    try:
        return psycopg.connect(project.dsn, autocommit=True)
    except psycopg.Error as error:
        reason = without_secrets(str(error).splitlines()[0], project)
        raise WorkFailed(
            f"the PostgreSQL catalog cannot be reached: {reason}",
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
    when the lock is taken; `busy` begins its message.
    """
    held, key = (project.dsn, name), zlib.crc32(f"gradelake {name}".encode())
    if held in _held:
        yield
        return
    with connect(project) as session:
        if not session.execute("select pg_try_advisory_lock(%s)", [key]).fetchall()[0][0]:
            if not wait:
                raise Busy(f"{busy} another process", "Try again later.")
            session.execute("select pg_advisory_lock(%s)", [key])
        _held.add(held)
        try:
            yield
        finally:
            _held.discard(held)


def without_secrets(text: str, project: Project) -> str:
    """An error's text without the connection string or its password.

    When the string cannot be read, nothing of the text is repeated: it may be quoted there.
    """
    try:
        from psycopg import ProgrammingError, conninfo
    except ImportError:
        return f"no details without psycopg; {how_to_install('postgres')}"
    try:
        password = conninfo.conninfo_to_dict(project.dsn).get("password")
    except ProgrammingError:
        return "its connection string cannot be read"
    for secret in filter(None, (project.catalog, project.dsn, password)):
        text = text.replace(str(secret), "***")
    return text
