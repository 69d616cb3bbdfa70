"""Which Parquet files a lake's catalogs name: the working catalog's, and each kept release's."""

import filecmp
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import (
    METADATA,
    catalog_file,
    data_path,
    published_file,
    require_lake,
)
from gradelake.sql.lake.lake import Lake
from gradelake.sql.releases import releases
from gradelake.sql.releases.data_files import DataFile, Execute, named, open_catalog

LIVE = "live"  # the working catalog's name among the releases'


@dataclass(frozen=True)
class Catalog:
    """What one catalog, or on PostgreSQL one snapshot of it, names.

    `files` are those that its readers need: of the working catalog every snapshot's, of a release
    those of its last snapshot. `others` are named, too, and may be gone.
    """

    name: str
    snapshot: int
    files: list[DataFile]
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
        releases.release_file(project, "x").parent.glob("*.sqlite"),
        key=lambda f: (f.stat().st_mtime, f.name),
    )
    found |= {file.stem: file for file in kept}
    published = published_file(project)
    if published.is_file() and not any(filecmp.cmp(published, f, shallow=False) for f in kept):
        found["published"] = published
    return found


@contextmanager
def _opened(file: Path) -> Iterator[Execute]:
    """Read a SQLite catalog without an extension. Raises `WorkFailed` naming the file."""
    try:
        with open_catalog(file) as catalog:
            yield catalog.execute
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise WorkFailed(f"{file}: the catalog cannot be read: {error}") from None


def read_sqlite(project: Project, name: str, file: Path) -> Catalog:
    """What one SQLite catalog names. Raises `WorkFailed` when it cannot be read."""
    with _opened(file) as execute:
        (snapshot,) = execute("select max(snapshot_id) from ducklake_snapshot").fetchone()
        if snapshot is None:
            raise WorkFailed(f"{file}: the catalog has no snapshot")
        return _catalog(name, snapshot, _named(project, execute), _leaving(project, execute))


def read_postgres(project: Project) -> list[Catalog]:
    """What the PostgreSQL catalog names, and each release in it. Raises `WorkFailed`."""
    with Lake.live(project) as lake:
        execute = lake.connection.execute
        execute("begin read only")  # one moment for all of it
        newest = lake.value(f"select max(snapshot_id) from {METADATA}ducklake_snapshot")
        files = _named(project, execute, METADATA)
        leaving = _leaving(project, execute, METADATA)
        found = [r for r in releases.listed(lake.connection) if r.snapshot <= newest]
    live = Catalog(LIVE, newest, files, leaving)
    return [live, *(_catalog(r.name, r.snapshot, files, leaving) for r in found)]


def lake_id(project: Project) -> str:
    """What identifies a lake and its copies: the id of its schema `main`.

    Raises `BadInput` when there is no lake.
    """
    query = "select schema_uuid from {}ducklake_schema where schema_id = 0"
    if project.on_postgres:
        with Lake.live(project) as lake:
            return str(lake.value(query.format(METADATA)))
    with _opened(next(iter(catalog_files(project).values()))) as execute:
        return execute(query.format("")).fetchone()[0]


def _catalog(name: str, snapshot: int, files: list[DataFile], leaving: set[str]) -> Catalog:
    if name == LIVE:
        return Catalog(name, snapshot, files, leaving)
    needed = [file for file in files if file.is_in(snapshot)]
    return Catalog(name, snapshot, needed, {file.path for file in files} | leaving)


def _named(project: Project, execute: Execute, prefix: str = "") -> list[DataFile]:
    root = data_path(project)
    return [replace(file, path=file.path.removeprefix(root)) for file in named(execute, prefix)]


def _leaving(project: Project, execute: Execute, prefix: str = "") -> set[str]:
    """Files that no snapshot needs any more and that wait to be removed."""
    rows = execute(f"select path from {prefix}ducklake_files_scheduled_for_deletion").fetchall()
    return {path.removeprefix(data_path(project)) for (path,) in rows}
