"""Which data files a release reads, and how they are kept from being cleaned up.

A release on a SQLite catalog is a frozen copy: it goes on naming the files of its day when the
working catalog has merged or expired them. DuckLake then knows them as files to delete, or not at
all; here they are held back. Paths are relative to the lake's data folder.
"""

import sqlite3
from collections.abc import Iterable
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

from gradelake.sql.lake.connection import NAME

DOOMED = datetime(1971, 1, 1, tzinfo=UTC)  # what was scheduled before goes at the next cleanup
METADATA = f"__ducklake_metadata_{NAME}."  # DuckLake's own tables, in any catalog
_SCHEDULED = f"{METADATA}ducklake_files_scheduled_for_deletion"
# data files and delete files by path; those visible in one snapshot, or all
_FILES = """
    select
        case
            when files.path_is_relative
                then case when tables.path_is_relative then schemas.path else '' end || tables.path
            else ''
        end || files.path as path,
        files.file_size_bytes
    from (
        select table_id, path, path_is_relative, file_size_bytes, begin_snapshot, end_snapshot
        from {prefix}ducklake_data_file
        union all
        select table_id, path, path_is_relative, file_size_bytes, begin_snapshot, end_snapshot
        from {prefix}ducklake_delete_file
    ) as files
    inner join (
        select distinct table_id, schema_id, path, path_is_relative from {prefix}ducklake_table
    ) as tables on files.table_id = tables.table_id
    inner join (
        select distinct schema_id, path, path_is_relative from {prefix}ducklake_schema
    ) as schemas on tables.schema_id = schemas.schema_id
"""
_VISIBLE = """
    where
        files.begin_snapshot <= {snapshot}
        and (files.end_snapshot is null or files.end_snapshot > {snapshot})
"""
_UNKNOWN_FROM = 1 << 62  # ids, never given by DuckLake, of files that the catalog does not know


def of_catalog(file: Path) -> dict[str, int]:
    """path -> bytes of every file that a SQLite release reads."""
    snapshot = "(select max(snapshot_id) from ducklake_snapshot)"
    query = (_FILES + _VISIBLE).format(prefix="", snapshot=snapshot)
    with open_catalog(file) as catalog:
        return dict(catalog.execute(query).fetchall())


def of_snapshot(connection: duckdb.DuckDBPyConnection, snapshot: int) -> dict[str, int]:
    """path -> bytes of every file that a snapshot of the attached catalog reads."""
    query = (_FILES + _VISIBLE).format(prefix=METADATA, snapshot=f"{snapshot:d}")
    return dict(connection.execute(query).fetchall())


def known(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Every file that any snapshot of the attached catalog reads."""
    return {path for path, _ in connection.execute(_FILES.format(prefix=METADATA)).fetchall()}


def scheduled(connection: duckdb.DuckDBPyConnection) -> dict[str, datetime]:
    """path -> since when (UTC) of the files that the attached catalog is going to delete."""
    rows = connection.execute(
        f"select path, schedule_start::timestamptz at time zone 'UTC' from {_SCHEDULED}"
    ).fetchall()
    return {path: since.replace(tzinfo=UTC) for path, since in rows}


def doom(connection: duckdb.DuckDBPyConnection, files: Iterable[str]) -> None:
    """Give scheduled files a date before every other's: `DOOMED`.

    For DuckLake compares dates of a SQLite catalog as text, by day only, and would delete what
    was scheduled a minute before midnight a minute after it.
    """
    _date(connection, sorted(files), DOOMED - timedelta(days=365))


def hold(connection: duckdb.DuckDBPyConnection, files: Iterable[str], now: datetime) -> int:
    """Let these files be of use until `now` (UTC): their time to go begins anew. Returns how many.

    A file that the catalog does not know (it was restored from an older copy) is entered as one
    to delete, so that it is not taken for an orphan. Call it under the writer's lock.
    """
    waiting = scheduled(connection).keys()
    unknown = sorted(set(files) - waiting - known(connection))
    late = sorted(set(files) & waiting)
    _date(connection, late, now)
    if unknown:
        highest = connection.execute(f"select max(data_file_id) from {_SCHEDULED}").fetchall()[0][0]
        first = max(highest or 0, _UNKNOWN_FROM) + 1
        places = ", ".join(f"({first + n}, ?, ?, ?)" for n in range(len(unknown)))
        values = [v for path in unknown for v in (path, not _is_absolute(path), _text(now))]
        connection.execute(f"insert into {_SCHEDULED} values {places}", values)
    return len(late) + len(unknown)


def _date(connection: duckdb.DuckDBPyConnection, files: list[str], date: datetime) -> None:
    if files:
        connection.execute(
            f"update {_SCHEDULED} set schedule_start = ? where path in (select unnest(?))",
            [_text(date), files],
        )


def _text(date: datetime) -> str:
    """A date as DuckLake writes it."""
    return f"{date.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}+00"


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or "://" in path


def open_catalog(file: Path) -> AbstractContextManager[sqlite3.Connection]:
    """A SQLite catalog opened for reading; closed after use."""
    # a URI: it escapes what would be misread in a path
    return closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, timeout=30))
