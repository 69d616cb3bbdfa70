"""Releases: what readers see. A finished build is published; a build in progress is not.

On a SQLite catalog a release is a compact copy of the catalog over the same Parquet files
(`vacuum_into`, then an atomic rename), readable without a lock or write permission. On PostgreSQL
it is a snapshot id. Either way the release is the commit that ends the build: its extra_info
carries the release's name, so the list of releases is in every catalog that holds them.
"""

import filecmp
import os
import re
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from gradelake.sql.common.errors import NothingPublished, NotThere, WorkFailed
from gradelake.sql.common.project import Project, require_known
from gradelake.sql.lake import hashes
from gradelake.sql.lake.connection import (
    METADATA,
    NAME,
    attach,
    catalog_file,
    published_file,
    release_file,
    release_files,
)
from gradelake.sql.lake.identity import ID, lake_id_of, open_catalog, vacuum_into
from gradelake.sql.lake.storage import sync


@dataclass(frozen=True)
class Release:
    """One published build: its name, the snapshot that ended it, and when that was (UTC)."""

    name: str
    snapshot: int
    published_at: datetime


def listed(connection: duckdb.DuckDBPyConnection, alias: str = NAME) -> list[Release]:
    """The releases recorded in the attached catalog, oldest first."""
    rows = connection.execute(
        f"select json_extract_string(commit_extra_info, '$.release'), snapshot_id, "
        f"snapshot_time::timestamp from {alias}.snapshots() "
        f"where json_extract_string(commit_extra_info, '$.release') is not null "
        f"order by snapshot_id"
    ).fetchall()
    return [Release(*row) for row in rows]


def names(project: Project, connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Every name that a release has: in the attached catalog, or as a file."""
    files = set() if project.on_postgres else {file.stem for file in release_files(project)}
    return files | {release.name for release in listed(connection)}


def built(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Every name that a build gave, those of dropped releases too."""
    found = connection.execute(
        f"select distinct json_extract_string(counts, '$.release') from {NAME}.raw.pipeline_runs "
        "where command = 'build'"
    ).fetchall()
    return {name for (name,) in found if name}


def next_name(project: Project, connection: duckdb.DuckDBPyConnection) -> str:
    """The name for the next release: r1, r2, ... None that a dropped release had."""
    had = names(project, connection) | built(connection)
    found = (re.fullmatch(r"r(\d+)", name) for name in had)
    return f"r{max((int(match[1]) for match in found if match), default=0) + 1}"


def publish(lake: Any, name: str) -> None:
    """Make the build that an open `Lake` has just committed under `name` what readers see.

    Call it under the writer's lock. A SQLite release is written beside its place and renamed, so
    a reader sees the old one or the new one. On PostgreSQL the commit itself is the record. Raises
    `WorkFailed` when another release has that name: a release is never replaced.
    """
    project = lake.project
    if project.on_postgres:
        return
    target = release_file(project, name)
    if target.is_file():  # a process that published it died before its end
        if not is_in_history(project, read(target)):
            raise WorkFailed(
                f"{target}: another release has this name, and was left as it is",
                "`gradelake lake verify` says more.",
            )
    else:
        target.parent.mkdir(exist_ok=True)
        fresh = target.with_suffix(".writing")
        fresh.unlink(missing_ok=True)
        vacuum_into(catalog_file(project), fresh)
        sync(fresh)
        os.link(fresh, target)  # refused where there is a file by now
        fresh.unlink()
    link_published(project, name)
    hashes.record_releases(lake)


def is_in_history(project: Project, release: Release) -> bool:
    """Whether the working SQLite catalog has a release's version."""
    with open_catalog(catalog_file(project)) as source:
        query = "select snapshot_time from ducklake_snapshot where snapshot_id = ?"
        row = source.execute(query, [release.snapshot]).fetchone()
    return row is not None and _utc(row[0]) == release.published_at


def link_published(project: Project, name: str) -> None:
    """Give readers this release."""
    link = published_file(project).with_suffix(".writing")
    link.unlink(missing_ok=True)
    os.link(release_file(project, name), link)  # the same file: a release never changes
    os.replace(link, published_file(project))
    sync(project.lake_path)


def available(project: Project, connection: duckdb.DuckDBPyConnection) -> list[Release]:
    """The releases that readers can ask for, oldest first; `connection` has the lake attached.

    On a SQLite catalog these are the copies that are there: one that was dropped, or whose build
    died before it was published, is still in the working catalog's list for a while.
    """
    if project.on_postgres:
        return listed(connection)
    return sorted(map(read, release_files(project)), key=lambda each: (each.snapshot, each.name))


def unfit(project: Project, connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """(release, why) of the SQLite releases that the attached working catalog did not publish, as
    far as its history goes: it was made anew, or an older copy was put in its place."""
    if project.on_postgres:
        return []
    found = available(project, connection)  # before the history, to which a writer may add
    ours = connection.execute(ID.format(METADATA)).fetchall()
    query = f"select snapshot_id, snapshot_time::timestamp from {NAME}.snapshots()"
    history = dict(connection.execute(query).fetchall())
    wrong = []
    for each in found:
        if [(lake_id_of(release_file(project, each.name)),)] != ours:
            wrong.append((each.name, "is of another lake than the working catalog"))
        elif each.snapshot > max(history):
            newest = f"whose newest version is {max(history)}"
            why = f"has version {each.snapshot}, later than the working catalog, {newest}"
            wrong.append((each.name, why))
        elif history.get(each.snapshot, each.published_at) != each.published_at:
            why = f"has another version {each.snapshot} than the working catalog's history"
            wrong.append((each.name, why))
    return wrong


def read(file: Path) -> Release:
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
    return Release(file.stem, snapshot, _utc(at))


def _utc(moment: str) -> datetime:
    return datetime.fromisoformat(moment).astimezone(UTC).replace(tzinfo=None)


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
    try:  # it may have been damaged since
        is_whole = read(published).snapshot == release.snapshot
    except WorkFailed:
        return False
    return is_whole and (file.samefile(published) or filecmp.cmp(file, published, shallow=False))


def attach_release(
    connection: duckdb.DuckDBPyConnection, project: Project, name: str | None, alias: str = NAME
) -> str:
    """Attach the newest release, or the named one, read-only as `alias`. Returns its name.

    Raises `BadInput` when nothing is published, or there is no such release.
    """
    nothing = NothingPublished(
        "nothing is published yet",
        "Run `gradelake build` after `gradelake ingest`, or read the working catalog with --live.",
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
        _require(name, [file.stem for file in release_files(project)])
        file = release_file(project, name)  # it never changes
        attach(connection, project, read_only=True, catalog=file, name=alias)
        return name
    # DuckLake looks the file up at every query: without a fixed snapshot, two queries of one reader
    # could meet two releases
    snapshot = read(file).snapshot
    attach(connection, project, read_only=True, catalog=file, snapshot=snapshot, name=alias)
    return [each for each in listed(connection, alias) if each.snapshot <= snapshot][-1].name


def named(found: list[Release], name: str) -> Release:
    """The release of that name. Raises `BadInput` when there is none."""
    by_name = {release.name: release for release in found}
    _require(name, by_name)
    return by_name[name]


def _require(name: str, known: Collection[str]) -> None:
    built = "There are none yet. `gradelake build` publishes one."
    require_known(name, known, f"there is no release {name!r}", NotThere, built)
