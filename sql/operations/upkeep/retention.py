"""Keeping a lake small: old releases and snapshots go, and with them the files only they read.

What any release reads that stays is never deleted, and nothing is before it has been of no use
for a while: a reader may have opened it a moment ago. Every step is whole in itself, so a process
that is killed leaves a lake that is tidied a little, and the next one goes on.
"""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gradelake.sql.build import changes
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake import hashes
from gradelake.sql.lake.connection import NAME, catalog_file, data_path, release_file, release_files
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.storage import Storage
from gradelake.sql.operations.upkeep import compaction
from gradelake.sql.releases import data_files, keeping, publishing

ORPHANS_AFTER = timedelta(days=1)  # no transaction takes so long
_WORTH_IT = 1 << 20  # unused bytes from which a SQLite catalog is rewritten


@dataclass
class Maintained:
    """What `maintain` did. Files are Parquet files; bytes count releases and catalog, too."""

    files_merged: int = 0
    releases_dropped: int = 0
    snapshots_expired: int = 0
    files_deleted: int = 0
    orphans_deleted: int = 0
    bytes_freed: int | None = 0  # None: on object storage deleted files are not measured
    files_held: int = 0  # of no use to the working catalog, but a release reads them
    files_waiting: int = 0  # deleted when `keep_days` are over


def maintain(
    project: Project,
    merge_from: int = compaction.MERGE_FROM,
    flush_from: int = compaction.FLUSH_FROM,
) -> Maintained:
    """Tidy the lake under the writer's lock, as `[lake]` of gradelake.toml says.

    `keep_days` is how long snapshots stay, and files that nothing needs any more; `keep_releases`
    how many of the newest releases stay beside those that are kept. Raises `WorkFailed`, before
    anything is deleted, when a release is not of the working catalog's history, and when a file
    would be deleted that somebody still needs.
    """
    grace = timedelta(days=project.keep_days)
    done = Maintained()
    with Lake.writer(project) as lake, lake.lock("gradelake lake tidy"):
        _require_fitting(lake)
        before = _catalog_bytes(project)
        # what a killed build was publishing: under the lock nobody writes it any more
        for folder in (project.lake_path, release_file(project, "x").parent):
            for file in (*folder.glob("*.writing"), *folder.glob("*.writing-journal")):
                file.unlink(missing_ok=True)
        console.tell("merging small files ...")
        compaction.flush_inlined_rows(lake, flush_from)
        done.files_merged = compaction.merge_small_files(lake, merge_from)
        console.tell("dropping old releases ...")
        done.releases_dropped = len(keeping.drop_old(lake, project.keep_releases))
        done.snapshots_expired = _expire(lake, datetime.now(UTC) - grace)
        compaction.forget_inlined_rows(lake)
        console.tell("deleting files that nobody needs ...")
        freed = _clean(lake, grace, done)
        if not project.on_postgres:
            _shrink(catalog_file(project))
        done.bytes_freed = None if freed is None else freed + before - _catalog_bytes(project)
    return done


def _require_fitting(lake: Lake) -> None:
    """What a wrong catalog does not name may be all that is left of a lake."""
    if wrong := publishing.unfit(lake.project, lake.connection):
        name, why = wrong[-1]
        raise WorkFailed(
            f"release {name} {why}: nothing was deleted", "`gradelake lake verify` says what to do."
        )
    if missing := data_files.known(lake.connection) - Storage(lake.project).sizes().keys():
        raise WorkFailed(
            f"{counted(len(missing), 'files')} that the catalog reads are not in "
            f"{data_path(lake.project)}, {min(missing)} first: nothing was deleted",
            "`gradelake lake verify` says more. Is it the catalog of another lake?",
        )


def _expire(lake: Lake, older_than: datetime) -> int:
    names = {r.name for r in publishing.available(lake.project, lake.connection)}
    staying = {r.snapshot for r in publishing.listed(lake.connection) if r.name in names}
    built = changes.last_build(lake)
    # the next build asks for the last one, and what each commit after it touched
    since = built.snapshot if built else lake.newest_snapshot()
    old = lake.rows(
        "select snapshot_id from lake.snapshots() where snapshot_time < ? and snapshot_id < ?",
        older_than,
        since,
    )
    return keeping.expire(lake, [s for (s,) in old if s not in staying])


def _clean(lake: Lake, grace: timedelta, done: Maintained) -> int | None:
    """Delete the files that were of no use for long enough. Returns bytes, None if not known."""
    connection, folder, now = lake.connection, data_path(lake.project), datetime.now(UTC)
    needed = set(keeping.files_of_all(lake))
    done.files_held = data_files.hold(connection, needed, now)
    waiting = data_files.scheduled(connection)
    doomed = {
        path for path, since in waiting.items() if path not in needed and since <= now - grace
    }
    data_files.doom(connection, doomed)
    needed |= data_files.known(connection)
    deleted, sizes = [], []
    for function, older_than in (
        ("ducklake_delete_orphaned_files", now - max(grace, ORPHANS_AFTER)),
        ("ducklake_cleanup_old_files", data_files.DOOMED),
    ):
        call = f"call {function}('{NAME}', older_than => ?"
        going = [path for (path,) in lake.rows(f"{call}, dry_run => true)", older_than)]
        if wanted := needed.intersection(path.removeprefix(folder) for path in going):
            raise WorkFailed(
                f"{counted(len(wanted), 'files')} would be deleted that a release or the working "
                f"catalog reads, {min(wanted)} first; that was not done",
                "Please report this with the output of `gradelake doctor`.",
            )
        sizes += [_size(path) for path in going]
        lake.rows(f"{call})", older_than)
        deleted.append(len(going))
    hashes.record_missing(lake, data_files.known(connection))  # merging made files
    hashes.forget(lake, needed | (waiting.keys() - doomed))
    done.orphans_deleted, done.files_deleted = deleted
    done.files_waiting = len(waiting.keys() - doomed - needed)
    known = [each for each in sizes if each is not None]
    return sum(known) if len(known) == len(sizes) else None


def _size(path: str) -> int | None:
    """Bytes of a file that is about to be deleted; 0 when a killed process has done so already."""
    if "://" in path:
        return None
    file = Path(path)
    return file.stat().st_size if file.is_file() else 0


def _catalog_bytes(project: Project) -> int:
    """Bytes of the working catalog and the releases' copies; 0 on PostgreSQL."""
    if project.on_postgres:
        return 0
    catalog = catalog_file(project)
    files = [catalog, catalog.with_name(f"{catalog.name}-wal")]
    files += release_files(project)
    return sum(file.stat().st_size for file in files if file.is_file())


def _shrink(catalog: Path) -> None:
    """Rewrite a SQLite catalog when much of it is unused; empty its write-ahead log.

    A reader at work prevents either; the next time will do.
    """
    with closing(sqlite3.connect(catalog, timeout=5, isolation_level=None)) as connection:
        try:
            page, unused, pages = (
                connection.execute(f"pragma {name}").fetchone()[0]
                for name in ("page_size", "freelist_count", "page_count")
            )
            if unused * page > _WORTH_IT and unused * 4 > pages:
                connection.execute("vacuum")
            connection.execute("pragma wal_checkpoint(truncate)")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) and "busy" not in str(error):
                raise
