"""Which Parquet files a lake's catalogs name: the working catalog's, and each kept release's."""

import filecmp
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import (
    catalog_file,
    data_path,
    no_lake,
    published_file,
    require_lake,
)
from gradelake.sql.releases.data_files import open_catalog
from gradelake.sql.releases.releases import release_file

Rows = Callable[[str], list[tuple]]
LIVE = "live"  # the working catalog's name among the releases'


@dataclass(frozen=True)
class NamedFile:
    """A data or delete file as a catalog describes it; `path` is relative to the data path."""

    path: str
    table: str  # schema.table
    kind: str  # 'data', or 'delete': rows of a data file that are gone
    size: int  # bytes
    rows: int
    first: int  # the snapshot that brought it
    last: int | None  # the snapshot that took it away, if any


@dataclass(frozen=True)
class Catalog:
    """What one catalog, or on PostgreSQL one snapshot of it, names.

    `files` are those that its readers need: of the working catalog every snapshot's, of a release
    those of its last snapshot. `others` are named, too, and may be gone.
    """

    name: str
    file: Path | None  # SQLite
    snapshot: int
    files: list[NamedFile]
    others: set[str]


def catalog_files(project: Project) -> dict[str, Path]:
    """The SQLite catalogs of a lake by name, the working one first; none on PostgreSQL.

    `published.sqlite` is listed only where it is not one of the kept releases.
    """
    require_lake(project)
    if project.on_postgres:
        return {}
    found = {LIVE: catalog_file(project)} if catalog_file(project).is_file() else {}
    kept = sorted(
        release_file(project, "x").parent.glob("*.sqlite"),
        key=lambda f: (f.stat().st_mtime, f.name),
    )
    found |= {file.stem: file for file in kept}
    published = published_file(project)
    if published.is_file() and not any(filecmp.cmp(published, f, shallow=False) for f in kept):
        found["published"] = published
    return found


@contextmanager
def sqlite_rows(file: Path) -> Iterator[Rows]:
    """Read a SQLite catalog without an extension. Raises `WorkFailed` naming the file."""
    try:
        opened = open_catalog(file)
    except sqlite3.Error as error:
        raise WorkFailed(f"{file}: cannot be opened: {error}") from None
    with opened as catalog:
        try:
            yield lambda query: catalog.execute(query).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise WorkFailed(f"{file}: the catalog cannot be read: {error}") from None


def read_sqlite(project: Project, name: str, file: Path) -> Catalog:
    """What one SQLite catalog names. Raises `WorkFailed` when it cannot be read."""
    with sqlite_rows(file) as rows:
        (snapshot,) = rows("select max(snapshot_id) from ducklake_snapshot")[0]
        if snapshot is None:
            raise WorkFailed(f"{file}: the catalog has no snapshot")
        return _catalog(name, file, snapshot, _named(rows, project), _leaving(rows, project))


def read_postgres(project: Project) -> list[Catalog]:
    """What the PostgreSQL catalog names, and each release in it. Raises `WorkFailed`."""
    from gradelake.sql.lake.postgres import connect, without_secrets

    with connect(project) as session:
        import psycopg

        _require_lake_in(session)
        session.execute("set session characteristics as transaction read only")
        try:
            # one moment for all of it
            session.execute("begin isolation level repeatable read")
            return _read_postgres(project, lambda query: session.execute(query).fetchall())
        except psycopg.Error as error:
            reason = without_secrets(str(error).splitlines()[0], project)
            raise WorkFailed(f"the PostgreSQL catalog cannot be read: {reason}") from None


def _read_postgres(project: Project, rows: Rows) -> list[Catalog]:
    (newest,) = rows("select max(snapshot_id) from ducklake_snapshot")[0]
    named, leaving = _named(rows, project), _leaving(rows, project)
    releases = rows(
        "select commit_extra_info::json ->> 'release', snapshot_id "
        "from ducklake_snapshot_changes inner join ducklake_snapshot using (snapshot_id) "
        "where commit_extra_info::json ->> 'release' is not null order by snapshot_id"
    )
    found = [_catalog(LIVE, None, newest, named, leaving)]
    return found + [_catalog(name, None, snapshot, named, set()) for name, snapshot in releases]


def lake_id(project: Project) -> str:
    """What tells a lake from another and stays with its copies: the id of its schema `main`.

    Raises `BadInput` when there is no lake.
    """
    query = "select schema_uuid from ducklake_schema where schema_id = 0"
    if project.on_postgres:
        from gradelake.sql.lake.postgres import connect

        with connect(project) as session:
            _require_lake_in(session)
            return str(session.execute(query).fetchall()[0][0])
    with sqlite_rows(next(iter(catalog_files(project).values()))) as rows:
        return rows(query)[0][0]


def _require_lake_in(session) -> None:
    if session.execute("select to_regclass('ducklake_schema')").fetchone()[0] is None:
        raise no_lake("the PostgreSQL catalog")


def _catalog(
    name: str, file: Path | None, snapshot: int, named: list[NamedFile], leaving: set[str]
) -> Catalog:
    if name == LIVE:
        return Catalog(name, file, snapshot, named, leaving)
    needed = [f for f in named if f.first <= snapshot and (f.last is None or f.last > snapshot)]
    others = {f.path for f in named} | leaving
    return Catalog(name, file, snapshot, needed, others)


def _named(rows: Rows, project: Project) -> list[NamedFile]:
    # a renamed table has several rows; the last one counts
    schemas = {
        schema_id: (name, _joined("", path, relative))
        for schema_id, name, path, relative in rows(
            "select schema_id, schema_name, path, path_is_relative from ducklake_schema "
            "order by begin_snapshot"
        )
    }
    tables = {}
    for table_id, schema_id, table, path, relative in rows(
        "select table_id, schema_id, table_name, path, path_is_relative from ducklake_table "
        "order by begin_snapshot"
    ):
        schema, folder = schemas[schema_id]
        tables[table_id] = (f"{schema}.{table}", _joined(folder, path, relative))
    root, found = data_path(project), []
    for table_id, path, relative, size, n_rows, first, last, kind in rows(
        "select table_id, path, path_is_relative, file_size_bytes, record_count, begin_snapshot, "
        "end_snapshot, 'data' from ducklake_data_file "
        "union all select table_id, path, path_is_relative, file_size_bytes, delete_count, "
        "begin_snapshot, end_snapshot, 'delete' from ducklake_delete_file"
    ):
        table, folder = tables[table_id]
        place = _joined(folder, path, relative).removeprefix(root)
        found.append(NamedFile(place, table, kind, size, n_rows, first, last))
    return found


def _leaving(rows: Rows, project: Project) -> set[str]:
    """Files that no snapshot needs any more and that wait to be removed."""
    return {
        path.removeprefix(data_path(project))
        for (path,) in rows("select path from ducklake_files_scheduled_for_deletion")
    }


def _joined(folder: str, path: str, is_relative: int) -> str:
    return folder + path if is_relative else path
