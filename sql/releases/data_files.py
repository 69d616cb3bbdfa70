"""Which data files a release reads, and how they are kept from being cleaned up.

A release on a SQLite catalog is a frozen copy: it goes on naming the files of its day when the
working catalog has merged or expired them. DuckLake then knows them as files to delete, or not at
all; here they are held back. Paths are relative to the lake's data folder.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from gradelake.sql.lake.connection import METADATA, execute
from gradelake.sql.lake.identity import open_catalog

DOOMED = datetime(1971, 1, 1, tzinfo=UTC)  # what was scheduled before goes at the next cleanup
_SCHEDULED = f"{METADATA}ducklake_files_scheduled_for_deletion"
# data files and delete files; of a renamed table or schema, the last name counts
_FILES = """
    with
    schemas as (
        select
            schema_id, schema_name, path,
            row_number() over (partition by schema_id order by begin_snapshot desc) as age
        from {prefix}ducklake_schema
    ),
    tables as (
        select
            table_id, schema_id, table_name, path, path_is_relative,
            row_number() over (partition by table_id order by begin_snapshot desc) as age
        from {prefix}ducklake_table
    ),
    files as (
        select
            table_id, path, path_is_relative, file_size_bytes, record_count as n_rows,
            begin_snapshot, end_snapshot
        from {prefix}ducklake_data_file
        union all
        select
            table_id, path, path_is_relative, file_size_bytes, delete_count as n_rows,
            begin_snapshot, end_snapshot
        from {prefix}ducklake_delete_file
    )
    select
        case
            when files.path_is_relative
                then case when tables.path_is_relative then schemas.path else '' end || tables.path
            else ''
        end || files.path as path,
        schemas.schema_name || '.' || tables.table_name as table_name,
        files.file_size_bytes, files.n_rows, files.begin_snapshot, files.end_snapshot
    from files
    inner join tables on files.table_id = tables.table_id and tables.age = 1
    inner join schemas on tables.schema_id = schemas.schema_id and schemas.age = 1
"""
# the tables that there are now, in the attached catalog
TABLES = f"""
    select tables.table_id, schemas.schema_name, tables.table_name
    from {METADATA}ducklake_table as tables
    inner join {METADATA}ducklake_schema as schemas using (schema_id)
    where tables.end_snapshot is null and schemas.end_snapshot is null
"""
_UNKNOWN_FROM = 1 << 62  # ids, never given by DuckLake, of files that the catalog does not know


Execute = Callable[[str], Any]  # of a connection to a catalog: SQLite's or DuckDB's


@dataclass(frozen=True)
class DataFile:
    """A data or delete file as a catalog describes it."""

    path: str
    table: str  # schema.table
    size: int  # bytes
    rows: int  # of a delete file those that are gone
    first: int  # the snapshot that brought it
    last: int | None  # the snapshot that took it away, if any

    def is_in(self, snapshot: int) -> bool:
        """Whether a snapshot reads it."""
        return self.first <= snapshot and (self.last is None or self.last > snapshot)


def named(execute: Execute, prefix: str = "") -> list[DataFile]:
    """Every file that any snapshot of a catalog reads; `prefix` stands before its tables."""
    return [DataFile(*row) for row in execute(_FILES.format(prefix=prefix)).fetchall()]


def of_catalog(file: Path) -> dict[str, int]:
    """path -> bytes of every file that a SQLite release reads."""
    with open_catalog(file) as catalog:
        (snapshot,) = catalog.execute("select max(snapshot_id) from ducklake_snapshot").fetchone()
        return {each.path: each.size for each in named(catalog.execute) if each.is_in(snapshot)}


def of_snapshot(connection: duckdb.DuckDBPyConnection, snapshot: int) -> dict[str, int]:
    """path -> bytes of every file that a snapshot of the attached catalog reads."""
    found = named(connection.execute, METADATA)
    return {each.path: each.size for each in found if each.is_in(snapshot)}


def newest(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The files that the last commit brought. Asked after each commit, so it is a few small
    queries of DuckLake's own tables, which take a third of the time of `named`."""
    snapshots = f"select max(snapshot_id) from {METADATA}ducklake_snapshot"
    last = connection.execute(snapshots).fetchall()[0][0]
    new = connection.execute(
        " union all ".join(
            f"select table_id, path, path_is_relative from {METADATA}ducklake_{kind}_file "
            f"where begin_snapshot = {last}"
            for kind in ("data", "delete")
        )
    ).fetchall()
    if not new:
        return []
    folders = f"""
        select
            tables.table_id,
            case when tables.path_is_relative then schemas.path else '' end || tables.path
        from {METADATA}ducklake_table as tables
        inner join {METADATA}ducklake_schema as schemas using (schema_id)
        where tables.table_id in ({", ".join(str(row[0]) for row in new)})
    """
    folder = dict(connection.execute(folders).fetchall())
    return [folder[table] + path if inside else path for table, path, inside in new]


def table_names(connection: duckdb.DuckDBPyConnection) -> dict[int, str]:
    """schema.table by the id of every table that the attached catalog knows."""
    return dict(
        connection.execute(
            "select table_id, arg_max(schema_name || '.' || table_name, tables.begin_snapshot) "
            f"from {METADATA}ducklake_table as tables "
            f"inner join {METADATA}ducklake_schema using (schema_id) group by table_id"
        ).fetchall()
    )


def known(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Every file that any snapshot of the attached catalog reads."""
    return {each.path for each in named(connection.execute, METADATA)}


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
    """Count these files as used until `now` (UTC): their grace begins again. Returns how many.

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
        execute(connection, f"insert into {_SCHEDULED} values {places}", values)
    return len(late) + len(unknown)


def _date(connection: duckdb.DuckDBPyConnection, files: list[str], date: datetime) -> None:
    if files:
        query = f"update {_SCHEDULED} set schedule_start = ? where path in (select unnest(?))"
        execute(connection, query, [_text(date), files])


def _text(date: datetime) -> str:
    """A date as DuckLake writes it."""
    return f"{date.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}+00"


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or "://" in path
