"""A PostgreSQL catalog as a SQLite one: the same snapshots over the same Parquet files."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import attach, connect

_AT_ONCE = 10_000  # rows
_WHOLE_NUMBERS = {"smallint", "integer", "bigint", "boolean"}


def export(project: Project, target: Path) -> list[tuple[str, int]]:
    """Write the catalog as of one moment; returns its releases (name, snapshot), oldest first.

    Rows that DuckLake keeps in the catalog itself come along: texts are bytes in PostgreSQL, and
    all but whole numbers are text in SQLite, as DuckLake itself writes them there. Raises
    `WorkFailed` when what DuckLake then reads is not the same on both sides.
    """
    import psycopg

    from gradelake.sql.lake import postgres

    with connect() as fresh:  # DuckLake's own tables, empty
        attach(fresh, project, read_only=False, catalog=target)
    with postgres.connect(project) as session, closing(sqlite3.connect(target)) as copy:
        session.execute("set timezone to 'UTC'")
        try:
            with session.transaction():
                session.execute("set transaction isolation level repeatable read, read only")
                blobs = set(
                    session.execute(
                        "select table_id, column_name from ducklake_column "
                        "where lower(column_type) = 'blob'"
                    ).fetchall()
                )
                for table, columns in _tables(session).items():
                    _copy(session, copy, table, columns, blobs)
        except psycopg.Error as error:
            reason = postgres.without_secrets(str(error).splitlines()[0], project)
            raise WorkFailed(f"the PostgreSQL catalog cannot be read: {reason}") from None
        copy.commit()
        inlined = copy.execute("select distinct table_id from ducklake_inlined_data_tables")
        moments = copy.execute(
            "select json_extract(commit_extra_info, '$.release'), snapshot_id "
            "from ducklake_snapshot_changes inner join ducklake_snapshot using (snapshot_id) "
            "where json_extract(commit_extra_info, '$.release') is not null order by snapshot_id"
        ).fetchall()
        _require_same(project, target, {table_id for (table_id,) in inlined})
    return moments


def _tables(session) -> dict[str, list[tuple[str, str]]]:
    """DuckLake's tables in PostgreSQL: name -> [(column, type)]."""
    found: dict[str, list[tuple[str, str]]] = {}
    for table, column, kind in session.execute(
        "select table_name, column_name, data_type from information_schema.columns "
        "where table_schema = current_schema() and table_name like 'ducklake\\_%' "
        "order by table_name, ordinal_position"
    ):
        found.setdefault(table, []).append((column, kind))
    return found


def _copy(session, copy: sqlite3.Connection, table: str, columns, blobs: set) -> None:
    selected, types = [], []
    part = table.removeprefix("ducklake_inlined_data_").split("_")[0]
    for column, kind in columns:
        name = _name(column)
        if kind in _WHOLE_NUMBERS:
            types.append("BIGINT")
            selected.append(f"{name}::int" if kind == "boolean" else name)
        elif kind == "bytea":
            is_blob = part.isdigit() and (int(part), column) in blobs
            types.append("BLOB" if is_blob else "VARCHAR")
            selected.append(name)
        else:
            types.append("VARCHAR")
            selected.append(f"{name}::text")
    described = ", ".join(
        f"{_name(column)} {kind}" for (column, _), kind in zip(columns, types, strict=True)
    )
    copy.execute(f"create table if not exists {table} ({described})")
    copy.execute(f"delete from {table}")  # what DuckLake writes into a new catalog
    names = ", ".join(_name(column) for column, _ in columns)
    places = ", ".join("?" for _ in columns)
    with session.cursor(name="export") as cursor:
        cursor.execute(f"select {', '.join(selected)} from {table}")
        while rows := cursor.fetchmany(_AT_ONCE):
            copy.executemany(
                f"insert into {table} ({names}) values ({places})",
                [
                    [
                        value.decode() if isinstance(value, bytes) and kind == "VARCHAR" else value
                        for value, kind in zip(row, types, strict=True)
                    ]
                    for row in rows
                ],
            )


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _require_same(project: Project, target: Path, table_ids: set[int]) -> None:
    """Compare every table that has rows in the catalog itself, as DuckLake reads it."""
    from gradelake.sql.operations.upkeep.lake_copy import fingerprint

    with closing(sqlite3.connect(target)) as copy:
        (snapshot,) = copy.execute("select max(snapshot_id) from ducklake_snapshot").fetchone()
        live = copy.execute(
            "select t.table_id, s.schema_name, t.table_name from ducklake_table as t "
            "inner join ducklake_schema as s on t.schema_id = s.schema_id "
            "where t.end_snapshot is null and s.end_snapshot is null"
        ).fetchall()
    with connect() as both:
        attach(both, project, read_only=True, snapshot=snapshot)
        attach(both, project, read_only=True, catalog=target, name="copied")
        for table_id, schema, table in live:
            if table_id not in table_ids:
                continue
            ours, theirs = (
                fingerprint(both, f'{catalog}."{schema}"."{table}"')
                for catalog in ("lake", "copied")
            )
            if ours != theirs:
                raise WorkFailed(
                    f"{schema}.{table} is not the same in the copy of the catalog",
                    "The backup was not made. Use `gradelake lake copy` to bring the lake into a "
                    "SQLite one, and please report this.",
                )


def rewound(catalog: Path, snapshot: int, target: Path) -> None:
    """Write a copy of a SQLite catalog as it was at one of its snapshots: a release's file."""
    shutil.copyfile(catalog, target)
    with closing(sqlite3.connect(target)) as copy:
        tables = [
            name
            for (name,) in copy.execute(
                "select name from sqlite_master where type = 'table' and name like 'ducklake%'"
            )
        ]
        for table in tables:
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
