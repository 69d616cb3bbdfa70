"""What only a PostgreSQL catalog needs: a lock for whole builds."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from sql.errors import WorkFailed
from sql.project import Project

_held: set[str] = set()  # catalogs whose lock this process holds


@contextmanager
def advisory_lock(project: Project, wait: bool = True) -> Iterator[None]:
    """Hold the lake's advisory lock in a session of its own; it ends with the process."""
    try:
        import psycopg
    except ImportError:
        raise WorkFailed(
            "psycopg is not installed", "Install it: pip install 'gradelake[postgres]'"
        ) from None
    dsn = (project.catalog or "").removeprefix("postgres:")
    if dsn in _held:
        yield
        return
    key = zlib.crc32(b"gradelake build")
    try:
        with psycopg.connect(dsn, autocommit=True) as session:
            if not session.execute("select pg_try_advisory_lock(%s)", [key]).fetchone()[0]:
                if not wait:
                    raise WorkFailed("the lake is being built by another process")
                session.execute("select pg_advisory_lock(%s)", [key])
            _held.add(dsn)
            try:
                yield
            finally:
                _held.discard(dsn)
    except psycopg.OperationalError as error:
        reason = str(error).splitlines()[0]
        raise WorkFailed(f"the PostgreSQL catalog cannot be reached: {reason}") from None
