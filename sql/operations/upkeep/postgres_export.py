"""A PostgreSQL catalog as a SQLite one: the same snapshots over the same Parquet files."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb

from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import METADATA, attach, connect
from gradelake.sql.lake.hashes import INLINED, TABLE
from gradelake.sql.operations.upkeep.lake_copy import fingerprint
from gradelake.sql.operations.upkeep.lake_files import LIVE
from gradelake.sql.releases import publishing
from gradelake.sql.releases.data_files import TABLES

_COPIED = METADATA.replace("lake.", "copied.")
_WHOLE_NUMBERS = {"smallint", "integer", "bigint", "boolean"}


def export(project: Project, folder: Path) -> dict[str, Path]:
    """Write the catalog, then each release in it, into a folder; call it under the writer's lock.

    Returns the files by name, the working catalog's first, then the releases', oldest first. Rows
    that DuckLake keeps in the catalog itself come along: texts are bytes in PostgreSQL, and all but
    whole numbers are text in SQLite, as DuckLake itself writes them there. Raises `WorkFailed` when
    what DuckLake then reads is not the same on both sides.
    """
    target = folder / f"{LIVE}.sqlite"
    with connect() as both:
        attach(both, project, read_only=True)
        attach(both, project, read_only=False, catalog=target, name="copied")  # without rows
        both.execute("set timezone = 'UTC'")
        both.execute("begin")
        blobs = both.execute(
            f"select table_id, column_name from {METADATA}ducklake_column "
            "where lower(column_type) = 'blob'"
        ).fetchall()
        tables = both.execute(
            "select table_name, list((column_name, data_type) order by ordinal_position) "
            f"from {METADATA}information_schema.columns "
            "where table_schema = 'public' "
            f"and (starts_with(table_name, 'ducklake_') or table_name = '{TABLE}') "
            "group by table_name"
        ).fetchall()
        for table, columns in tables:
            _copy(both, table, columns, set(blobs))
        both.execute("commit")
    with connect() as both:
        attach(both, project, read_only=True)
        attach(both, project, read_only=True, catalog=target, name="copied")
        _require_same(both)
        moments = publishing.listed(both)
    files = {LIVE: target}
    for release in moments:
        files[release.name] = folder / f"release-{release.name}.sqlite"
        _rewind(target, release.snapshot, files[release.name])
    return files


def _copy(
    both: duckdb.DuckDBPyConnection,
    table: str,
    columns: list[tuple[str, str]],
    blobs: set[tuple[int, str]],
) -> None:
    selected = []
    part = table.removeprefix("ducklake_inlined_data_").split("_")[0]
    for column, kind in columns:
        name = '"' + column.replace('"', '""') + '"'
        if kind in _WHOLE_NUMBERS:
            value = f"{name}::bigint"
        elif kind == "bytea":
            is_blob = part.isdigit() and (int(part), column) in blobs
            value = name if is_blob else f"decode({name})"
        else:
            value = f"{name}::varchar"
        selected.append(f"{value} as {name}")
    query = f"select {', '.join(selected)} from {METADATA}{table}"
    if table == TABLE:  # rows get other types, and so another hash with the next build
        query += f" where not starts_with(path, '{INLINED}')"
    both.execute(f"create table if not exists {_COPIED}{table} as {query} limit 0")
    both.execute(f"delete from {_COPIED}{table}")  # what DuckLake writes into a new catalog
    both.execute(f"insert into {_COPIED}{table} by name {query}")


def _require_same(both: duckdb.DuckDBPyConnection) -> None:
    """Compare every table that has rows in the catalog itself, as DuckLake reads it."""
    for schema, table in both.execute(
        f"""
        select distinct schema_name, tables.table_name
        from {METADATA}ducklake_inlined_data_tables as inlined
        inner join ({TABLES}) as tables using (table_id)
        """
    ).fetchall():
        place = f'"{schema}"."{table}"'
        if fingerprint(both, f"lake.{place}") != fingerprint(both, f"copied.{place}"):
            raise WorkFailed(
                f"{schema}.{table} is not the same in the copy of the catalog",
                "The backup was not made. Use `gradelake lake copy` to bring the lake into a "
                "SQLite one, and please report this.",
            )


def _rewind(catalog: Path, snapshot: int, target: Path) -> None:
    """Write a copy of a SQLite catalog as it was at one of its snapshots: a release's file."""
    shutil.copyfile(catalog, target)
    with closing(sqlite3.connect(target)) as copy:
        tables = "select name from sqlite_master where type = 'table' and name like 'ducklake%'"
        for (table,) in copy.execute(tables).fetchall():
            columns = {row[1] for row in copy.execute(f"pragma table_info({table})")}
            if "begin_snapshot" in columns:
                copy.execute(f"delete from {table} where begin_snapshot > ?", [snapshot])
            if "end_snapshot" in columns:
                copy.execute(
                    f"update {table} set end_snapshot = null where end_snapshot > ?", [snapshot]
                )
            if "snapshot_id" in columns:
                copy.execute(f"delete from {table} where snapshot_id > ?", [snapshot])
        copy.execute("delete from ducklake_files_scheduled_for_deletion")
        copy.commit()
        copy.execute("vacuum")
