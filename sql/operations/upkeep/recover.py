"""`gradelake lake recover`: a lake whose working catalog is lost gets a new one from a release."""

import os
import sqlite3
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from gradelake.sql.build.changes import BOOKKEEPING
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.project import Project, require_known
from gradelake.sql.lake.connection import (
    catalog_file,
    literal,
    published_file,
    release_files,
    require_lake,
    write_lock,
)
from gradelake.sql.lake.identity import lake_id_of, open_catalog, vacuum_into
from gradelake.sql.lake.keys import KEYS
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.storage import Storage, sync
from gradelake.sql.operations.upkeep.lake_files import require_sound
from gradelake.sql.releases import data_files, publishing
from gradelake.sql.releases.publishing import Release


@dataclass
class Recovered:
    """What was made of which release, and what was committed after it."""

    release: str
    snapshot: int
    published_at: datetime
    set_aside: list[str]  # what was in the catalog's place
    # of data files that the release does not know: {table, collection, rows} of rows it has not
    gone: list[dict[str, Any]] = field(default_factory=list)
    unknown_files: int = 0
    commits: list[dict[str, Any]] = field(default_factory=list)  # that a later release has


def recover(project: Project, name: str) -> Recovered:
    """Put a copy of a release in the place of the working catalog; what is there is set aside.

    Where that was done before, and nothing was committed since, only what is left of it is done.
    Raises `BadInput` when there is no such release, when the working catalog has it in its history
    and so is not lost, and on PostgreSQL, where releases are in the catalog itself.
    """
    if project.on_postgres:
        raise BadInput(
            "on PostgreSQL the releases are in the catalog itself, and are lost with it",
            "Restore a backup (`gradelake lake restore`); `gradelake lake copy` brings it into an "
            "empty database.",
        )
    if not release_files(project) and not published_file(project).is_file():
        require_lake(project)
        raise BadInput("there is no release to recover from", "Restore a backup.")
    with write_lock(project, "gradelake lake recover"):
        found = {file.stem: file for file in release_files(project)}
        if published_file(project).is_file():
            found["published"] = published_file(project)
        require_known(name, found, f"there is no release {name!r}")
        file = found[name]
        require_sound(file)
        release = publishing.read(file)
        aside = []
        if _is_lost(project, file, release):
            fresh = catalog_file(project).with_suffix(".writing")
            fresh.unlink(missing_ok=True)
            vacuum_into(file, fresh)
            sync(fresh)
            aside = _set_aside(catalog_file(project))
            os.replace(fresh, catalog_file(project))
            sync(project.lake_path)
        if not published_file(project).is_file():
            publishing.link_published(project, name)
        done = Recovered(name, release.snapshot, release.published_at, aside)
        done.commits = _later_commits([found[other] for other in found if other != name], release)
        _find_gone(project, done)
    return done


def _is_lost(project: Project, file: Path, release: Release) -> bool:
    """Whether the working catalog is; it is not where it has what the release has, and no more.

    Raises `BadInput` where it has more.
    """
    catalog = catalog_file(project)
    try:
        require_sound(catalog)
        is_ours = lake_id_of(catalog) == lake_id_of(file)
        has_it = publishing.is_in_history(project, release)
        is_same = _newest_of(catalog) == _newest_of(file)
    except (sqlite3.Error, WorkFailed):
        return True
    if is_ours and has_it and not is_same:
        raise BadInput(
            f"{catalog} is not lost: it has release {release.name} in its history",
            "A release is made anew from its newest version: gradelake build",
        )
    return not (is_ours and has_it)


def _newest_of(catalog: Path) -> tuple[int, str]:
    with open_catalog(catalog) as opened:
        query = "select max(snapshot_id), max(snapshot_time) from ducklake_snapshot"
        return opened.execute(query).fetchone()


def _set_aside(catalog: Path) -> list[str]:
    """Move what is in the catalog's place away, its log too: SQLite would apply that to the new
    one."""
    stamp = f"{utc_now():%Y%m%d-%H%M%S}"
    moved = []
    for ending in ("", "-wal", "-shm", "-journal"):
        file = catalog.with_name(catalog.name + ending)
        if file.is_file():
            place = catalog.with_name(f"catalog-before-{stamp}.sqlite{ending}")
            os.replace(file, place)
            moved.append(str(place))
    return moved


def _later_commits(files: list[Path], release: Release) -> list[dict[str, Any]]:
    """Commits after a release's version that the newest of other releases knows."""
    query = """
        select snapshot_id, snapshot_time, commit_message
        from ducklake_snapshot
        inner join ducklake_snapshot_changes using (snapshot_id)
        where snapshot_id > ? and commit_message is not null
        order by snapshot_id
    """
    found: list[dict[str, Any]] = []
    for file in files:
        try:
            with open_catalog(file) as catalog:
                rows = catalog.execute(query, [release.snapshot]).fetchall()
        except sqlite3.Error:
            continue
        if len(rows) > len(found):
            names = ("version", "committed_at", "message")
            found = [dict(zip(names, row, strict=True)) for row in rows]
    return found


def _find_gone(project: Project, done: Recovered) -> None:
    """Read the data files that the recovered catalog does not know, and count the rows that it has
    not. A file may also be of a writer that was killed, or hold rows that were merged into it."""
    storage = Storage(project)
    with Lake.live(project) as lake:
        known = data_files.known(lake.connection) | data_files.scheduled(lake.connection).keys()
        unknown = sorted(storage.sizes().keys() - known)
        done.unknown_files = len(unknown)
        for table in KEYS.keys() - set(BOOKKEEPING):
            folder = f"raw/{table}/"
            files = [
                literal(storage.path(path))
                for path in unknown
                if path.startswith(folder) and not path.endswith("-delete.parquet")
            ]
            if files and KEYS[table]:
                done.gone += _rows_gone(lake, table, files)
    done.gone.sort(key=lambda row: (row["table"], row["collection"] or ""))


def _rows_gone(lake: Lake, table: str, files: list[str]) -> list[dict[str, Any]]:
    key = ", ".join(KEYS[table])
    collection = "collection" if "collection" in key else "null"
    readable = [file for file in files if _is_readable(lake, file)]
    if not readable:
        return []
    return lake.objects(
        f"""
        select 'raw.{table}' as table, {collection} as collection, count(*) as rows
        from (
            select {key} from read_parquet(?, union_by_name = true, hive_partitioning = false)
            except
            select {key} from lake.raw.{table}
        )
        group by all
        """,
        readable,
    )


def _is_readable(lake: Lake, file: str) -> bool:
    try:
        return bool(lake.rows("select 1 from parquet_file_metadata([?])", file))
    except duckdb.Error:
        return False
