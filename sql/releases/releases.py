"""Releases: what readers see. A finished build is published; a build in progress is not.

On a SQLite catalog a release is a compact copy of the catalog over the same Parquet files
(`VACUUM INTO`, then an atomic rename), readable without a lock or write permission. On PostgreSQL
it is a snapshot id. Either way the release is the commit that ends the build: its extra_info
carries the release's name, so the list of releases is in every catalog that holds them.
"""

import filecmp
import os
import re
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.project import Project, did_you_mean
from gradelake.sql.lake.connection import NAME, attach, catalog_file, published_file
from gradelake.sql.lake.storage import sync
from gradelake.sql.releases.data_files import open_catalog


@dataclass(frozen=True)
class Release:
    """One published build: its name, the snapshot that ended it, and when that was (UTC)."""

    name: str
    snapshot: int
    published_at: datetime


def release_file(project: Project, name: str) -> Path:
    return project.lake_path / "releases" / f"{name}.sqlite"


def listed(connection: duckdb.DuckDBPyConnection, alias: str = NAME) -> list[Release]:
    """The releases recorded in the attached catalog, oldest first."""
    rows = connection.execute(
        f"select json_extract_string(commit_extra_info, '$.release'), snapshot_id, "
        f"snapshot_time::timestamp from {alias}.snapshots() "
        f"where json_extract_string(commit_extra_info, '$.release') is not null "
        f"order by snapshot_id"
    ).fetchall()
    return [Release(*row) for row in rows]


def next_name(connection: duckdb.DuckDBPyConnection) -> str:
    """The name for the next release: r1, r2, ..."""
    numbers = [int(m[1]) for r in listed(connection) if (m := re.fullmatch(r"r(\d+)", r.name))]
    return f"r{max(numbers, default=0) + 1}"


def publish(project: Project, name: str) -> None:
    """Make the build that has just been committed under `name` what readers see.

    Call it under the writer's lock. A SQLite release is written beside its place and renamed, so
    a reader sees the old one or the new one. On PostgreSQL the commit itself is the record.
    """
    if project.on_postgres:
        return
    target = release_file(project, name)
    target.parent.mkdir(exist_ok=True)
    fresh = target.with_suffix(".writing")
    fresh.unlink(missing_ok=True)
    with open_catalog(catalog_file(project)) as source:
        source.execute("VACUUM INTO ?", [str(fresh)])
    sync(fresh)
    os.replace(fresh, target)
    link = published_file(project).with_suffix(".writing")
    link.unlink(missing_ok=True)
    os.link(target, link)  # the same file under a second name: a release never changes
    os.replace(link, published_file(project))
    sync(project.lake_path)


def available(project: Project, connection: duckdb.DuckDBPyConnection) -> list[Release]:
    """The releases that readers can ask for, oldest first; `connection` has the lake attached.

    On a SQLite catalog these are the copies that are there: one that was dropped, or whose build
    died before it was published, is still in the working catalog's list for a while.
    """
    if project.on_postgres:
        return listed(connection)
    files = release_file(project, "x").parent.glob("*.sqlite")
    return sorted(map(_read, files), key=lambda release: (release.snapshot, release.name))


def _read(file: Path) -> Release:
    """The release that a SQLite catalog is."""
    try:
        with open_catalog(file) as catalog:
            snapshot, at = catalog.execute(
                "select snapshot_id, snapshot_time from ducklake_snapshot "
                "order by snapshot_id desc limit 1"
            ).fetchone()
    except (sqlite3.Error, TypeError):
        raise WorkFailed(
            f"{file}: this is not a release's catalog", "Move it away, or restore it from a backup."
        ) from None
    return Release(
        file.stem, snapshot, datetime.fromisoformat(at).astimezone(UTC).replace(tzinfo=None)
    )


def read_by_default(project: Project, connection: duckdb.DuckDBPyConnection) -> str | None:
    """Name of the release that readers get who name none; None when nothing is published."""
    found = available(project, connection)
    if project.on_postgres:
        return found[-1].name if found else None
    return next((r.name for r in reversed(found) if is_published(project, r)), None)


def is_published(project: Project, release: Release) -> bool:
    """Whether readers get this release: false when a process died between commit and publishing."""
    if project.on_postgres:
        return True
    file, published = release_file(project, release.name), published_file(project)
    if not file.is_file() or not published.is_file():
        return False
    return file.samefile(published) or filecmp.cmp(file, published, shallow=False)


def attach_release(
    connection: duckdb.DuckDBPyConnection, project: Project, name: str | None, alias: str = NAME
) -> str:
    """Attach the newest release, or the named one, read-only as `alias`. Returns its name.

    Raises `BadInput` when nothing is published, or there is no such release.
    """
    nothing = BadInput(
        "nothing is published yet",
        "Run `gradelake build`, or read the working catalog with --live.",
    )
    if project.on_postgres:
        attach(connection, project, read_only=True, name=alias)
        found = listed(connection, alias)
        if not found:
            raise nothing
        chosen = found[-1] if name is None else named(found, name)
        connection.execute(f"DETACH {alias}")
        attach(connection, project, read_only=True, snapshot=chosen.snapshot, name=alias)
        return chosen.name
    if not published_file(project).is_file():
        raise nothing
    file = published_file(project)
    if name is not None:
        kept = [f.stem for f in release_file(project, "x").parent.glob("*.sqlite")]
        if name not in kept:
            raise _unknown(name, kept)
        file = release_file(project, name)  # it never changes
        attach(connection, project, read_only=True, catalog=file, name=alias)
        return name
    # DuckLake looks the file up at every query: without a fixed snapshot, two queries of one reader
    # could meet two releases
    snapshot = _read(file).snapshot
    attach(connection, project, read_only=True, catalog=file, snapshot=snapshot, name=alias)
    return [each for each in listed(connection, alias) if each.snapshot <= snapshot][-1].name


def named(found: list[Release], name: str) -> Release:
    """The release of that name. Raises `BadInput` when there is none."""
    for release in found:
        if release.name == name:
            return release
    raise _unknown(name, [release.name for release in found])


def _unknown(name: str, kept: list[str]) -> BadInput:
    return BadInput(f"there is no release {name!r}", did_you_mean(name, kept))
