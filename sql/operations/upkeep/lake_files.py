"""Which Parquet files a lake's catalogs name: the working catalog's, and each kept release's."""

import filecmp
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import (
    METADATA,
    catalog_file,
    data_path,
    published_file,
    release_files,
    require_lake,
)
from gradelake.sql.lake.hashes import RECORDED
from gradelake.sql.lake.identity import ID, open_catalog
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.storage import Storage
from gradelake.sql.releases import publishing
from gradelake.sql.releases.data_files import DataFile, Execute, named

LIVE = "live"  # the working catalog's name among the releases'


@dataclass(frozen=True)
class Catalog:
    """What one catalog, or on PostgreSQL one snapshot of it, names.

    `files` are those that its readers need: of the working catalog every snapshot's, of a release
    those of its last snapshot. `others` are named, too, and may be gone. `hashes` has the sha256
    that files had at their commit, by path.
    """

    name: str
    snapshot: int
    files: list[DataFile]
    others: set[str]
    hashes: dict[str, str]


def catalog_files(project: Project) -> dict[str, Path]:
    """The SQLite catalogs of a lake by name, the working one first; none on PostgreSQL.

    `published.sqlite` is listed only where it is not one of the kept releases.
    """
    require_lake(project)
    if project.on_postgres:
        return {}
    found = {LIVE: catalog_file(project)} if catalog_file(project).is_file() else {}
    kept = release_files(project)
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
        return _catalog(name, snapshot, *_named(project, execute))


def read_postgres(project: Project) -> list[Catalog]:
    """What the PostgreSQL catalog names, and each release in it. Raises `WorkFailed`."""
    with Lake.live(project) as lake:
        execute = lake.connection.execute
        execute("begin read only")  # one moment for all of it
        newest = lake.value(f"select max(snapshot_id) from {METADATA}ducklake_snapshot")
        found = [r for r in publishing.listed(lake.connection) if r.snapshot <= newest]
        what = _named(project, execute, METADATA)
    snapshots = [(LIVE, newest), *((release.name, release.snapshot) for release in found)]
    return [_catalog(name, snapshot, *what) for name, snapshot in snapshots]


def require_sound(file: Path) -> None:
    """Raise `WorkFailed` unless SQLite itself finds the file whole."""
    try:
        with open_catalog(file) as catalog:
            (found,) = catalog.execute("pragma integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        found = str(error)
    if found != "ok":
        raise WorkFailed(f"{file}: is not a sound SQLite file: {found}")


def lake_id(project: Project) -> str:
    """What identifies a lake and its copies: see `identity`.

    Raises `BadInput` when there is no lake, and `LostCatalog` when there was one.
    """
    with Lake.live(project) as lake:
        return str(lake.value(ID.format(METADATA)))


def changed(
    storage: Storage, files: Iterable[DataFile], hashes: dict[str, str]
) -> Iterator[DataFile]:
    """The files whose bytes are not those that were committed."""
    for file in files:
        if (expected := hashes.get(file.path)) and storage.sha256(file.path) != expected:
            yield file


# of the columns by which people ask for rows, the least and the greatest value in a file
_EXTENT = """
    select columns.column_name, stats.min_value, stats.max_value
    from {0}ducklake_file_column_stats as stats
    inner join {0}ducklake_data_file as files on stats.data_file_id = files.data_file_id
    inner join {0}ducklake_column as columns
        on stats.table_id = columns.table_id and stats.column_id = columns.column_id
    where
        files.path like '%{1}' and columns.end_snapshot is null and stats.min_value is not null
        and columns.column_name in
            ('collection', 'query_id', 'system', 'assessor', 'bank', 'grader_id', 'label_set')
    order by columns.column_id
"""


def rows_of(project: Project, file: DataFile, catalog: str) -> str:
    """Which rows are in a file, as the named catalog has it: they may have to come again."""
    name = file.path.rpartition("/")[2]
    if project.on_postgres:
        with Lake.live(project) as lake:
            found = lake.rows(_EXTENT.format(METADATA, name))
    else:
        with _opened(catalog_files(project)[catalog]) as execute:
            found = execute(_EXTENT.format("", name)).fetchall()
    parts = [
        f"{column} {least}" if least == greatest else f"{column} {least} to {greatest}"
        for column, least, greatest in found
    ]
    return f"{counted(file.rows, 'rows')} of {', '.join([file.table, *parts])}"


def _catalog(
    name: str, snapshot: int, files: list[DataFile], leaving: set[str], hashes: dict[str, str]
) -> Catalog:
    if name == LIVE:
        return Catalog(name, snapshot, files, leaving, hashes)
    needed = [file for file in files if file.is_in(snapshot)]
    return Catalog(name, snapshot, needed, {file.path for file in files} | leaving, hashes)


def _named(
    project: Project, execute: Execute, prefix: str = ""
) -> tuple[list[DataFile], set[str], dict[str, str]]:
    """(data files; those that no snapshot needs any more and that wait to be removed; hashes)."""
    root = data_path(project)
    files = [replace(file, path=file.path.removeprefix(root)) for file in named(execute, prefix)]
    leaving = execute(f"select path from {prefix}ducklake_files_scheduled_for_deletion").fetchall()
    hashes = dict(execute(RECORDED.format(prefix)).fetchall())
    return files, {path.removeprefix(root) for (path,) in leaving}, hashes
