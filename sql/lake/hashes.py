"""A hash of each data file, taken when its commit is done. Files never change: one that has another
hash later was changed by the disk, or by somebody.

They are in a table beside DuckLake's own, in the catalog itself, and so in each release and backup.
A table of the lake could not hold the hash of its own file, and would take a further commit for
each. A process that is killed in between leaves files without a hash: the next build gives them
theirs.
"""

from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any

from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.lake.connection import METADATA, quote
from gradelake.sql.lake.storage import Storage

TABLE = "gradelake_files"
RECORDED = "select path, sha256 from {}" + TABLE
_HERE = f"{METADATA}{TABLE}"


def make_table(lake: Any) -> None:
    """Give an open `Lake` the table of hashes, if it has none."""
    lake.rows(f"create table if not exists {_HERE} (path varchar, sha256 varchar)")


def record(lake: Any, paths: Iterable[str]) -> None:
    """Write down the hashes of data files of an open `Lake` that have none. Hold the writer's lock.

    A file that cannot be read gets none: whoever reads its rows says what is wrong.
    """
    rows, storage = [], Storage(lake.project, lake.connection)
    for path in paths:
        with suppress(OSError, WorkFailed):
            rows.append(f"({quote(path)}, {quote(storage.sha256(path))})")
    if rows:
        lake.connection.execute(f"insert into {_HERE} values {', '.join(rows)}")


def record_missing(lake: Any, paths: Collection[str]) -> None:
    """The same for those of many files that have none."""
    make_table(lake)
    have = {path for path, _ in lake.rows(RECORDED.format(METADATA))}
    record(lake, sorted(set(paths) - have))


def forget(lake: Any, needed: Collection[str]) -> None:
    """Remove the hashes of all files but these."""
    lake.rows(f"delete from {_HERE} where path not in (select unnest(?))", sorted(needed))
