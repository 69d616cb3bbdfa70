"""`gradelake lake copy`: an existing lake's raw tables into another lake, checked row by row."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from gradelake.sql.build.seeds import seeds_folder
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import (
    NAME,
    attach,
    catalog_file,
    data_path,
    grading_folder,
    require_lake,
    waiting_replies,
    write_lock,
)
from gradelake.sql.lake.migrate import applied, migrations
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.storage import Storage
from gradelake.sql.operations.upkeep.lake_files import (
    LIVE,
    changed,
    lake_id,
    read_postgres,
    read_sqlite,
)

ORIGIN = "origin"  # the source's name beside the target in one connection
# made by the target itself, or about files that stay behind
_NOT_COPIED = {"schema_migrations", "kept_releases"}
# a build only adds to the history of the rubric's edits: it cannot be recomputed
_HISTORY = "intermediate.rubric_history"


@dataclass
class Copied:
    """What a copy did: per table its rows and whether they were there before."""

    snapshot: int  # of the source
    tables: dict[str, int] = field(default_factory=dict)  # copied now
    before: dict[str, int] = field(default_factory=dict)  # by an interrupted copy
    chunks: int = 0  # graded, but not committed in the source yet
    seeds: list[str] = field(default_factory=list)
    later_commits: int = 0  # of the source, since the snapshot
    finished_before: bool = False
    warnings: list[str] = field(default_factory=list)
    next: str = ""  # the command that makes a release there
    seconds: float = 0.0


def copy(source: Project, target: Project, arguments: list[str]) -> Copied:
    """Copy the newest state of every raw table; marts are not copied, and releases stay behind.

    A transaction per table, in which count and fingerprint of both sides are compared. An
    interrupted copy goes on, at the snapshot it began with. The source is only read. Raises
    `BadInput` when the target has anything else in it, `WorkFailed` when a table differs.
    """
    _require_two_lakes(source, target)
    require_lake(source)
    origin = lake_id(source)
    with Lake.create(target) as lake, lake.lock("gradelake lake copy"):
        snapshot, finished, there = _begun(lake, origin)
        # what is graded and not committed must be neither lost nor paid for again: no commit
        # happens between these two
        with write_lock(source, "gradelake lake copy"):
            newest = _attach(lake, source, snapshot)
            done = Copied(newest if snapshot is None else snapshot)
            done.later_commits = newest - done.snapshot
            if finished:
                done.finished_before = True
                return done
            done.chunks = _copy_replies(source, target)
        _require_unchanged(source, done.snapshot)
        tables = _tables(lake)
        for table in console.progress("copying", tables, len(tables)):
            _copy_table(lake, table, table in there, origin, done)
        done.seeds = _copy_seeds(source, target, done)
        with lake.transaction("copy", "of a lake") as transaction:
            transaction.extra |= {
                "copied_from": origin,
                "source_snapshot": done.snapshot,
                "finished": True,
            }
            transaction.say(copied_tables=len(done.tables | done.before))
            transaction.finish_run(arguments)
    _warn_of_settings(source, target, done)
    return done


def fingerprint(connection: duckdb.DuckDBPyConnection, table: str) -> tuple[int, int]:
    """(rows, sum of the 64-bit hashes of all columns of each row): the order does not matter."""
    columns = sorted(row[0] for row in connection.execute(f"describe {table}").fetchall())
    named = ", ".join(f'"{column}"' for column in columns)
    return connection.execute(
        f"select count(*), coalesce(sum(hash({named})::hugeint), 0)::hugeint from {table}"
    ).fetchall()[0]


# --- before ---------------------------------------------------------------------------------------


def _require_two_lakes(source: Project, target: Project) -> None:
    def place(lake: Project) -> str | Path:
        return lake.dsn if lake.on_postgres else lake.lake_path.resolve()

    if place(source) == place(target):
        raise BadInput(
            f"{target.file} names the lake that would be copied",
            "Name another [lake] path or catalog in it.",
        )
    if data_path(source) == data_path(target):
        raise BadInput(
            f"both lakes would keep their files in {data_path(source)}",
            f"Name another [lake] path or data in {target.file}.",
        )


def _begun(lake: Lake, origin: str) -> tuple[int | None, bool, set[str]]:
    """(source's snapshot of an interrupted copy, or None; whether it was finished; the tables that
    it committed).

    Raises `BadInput` unless the target is empty or such a copy.
    """
    marks = lake.rows(
        """
        select
            json_extract_string(commit_extra_info, '$.copied_from'),
            json_extract(commit_extra_info, '$.source_snapshot')::bigint,
            coalesce(json_extract(commit_extra_info, '$.finished')::boolean, false),
            json_extract_string(commit_extra_info, '$.copied_table')
        from lake.snapshots()
        where
            snapshot_id > 0
            and json_extract_string(commit_extra_info, '$.kind') is distinct from 'migration'
        order by snapshot_id
        """
    )
    if not marks:
        return None, False, set()
    if any(mark[0] != origin for mark in marks):
        raise BadInput(
            f"{lake.project.file}: its lake is not empty",
            "A lake is copied into an empty one only: nothing there is overwritten.",
        )
    return marks[0][1], marks[-1][2], {mark[3] for mark in marks}


def _attach(lake: Lake, source: Project, snapshot: int | None) -> int:
    """Attach the source, pinned; returns its newest snapshot."""
    connection = lake.connection
    attach(connection, source, read_only=True, name=ORIGIN)
    kept = [number for (number,) in lake.rows(f"select snapshot_id from {ORIGIN}.snapshots()")]
    connection.execute(f"detach {ORIGIN}")
    if snapshot is not None and snapshot not in kept:
        raise BadInput(
            f"the interrupted copy was of version {snapshot}, which the source no longer has",
            "Begin again with an empty lake.",
        )
    attach(connection, source, read_only=True, name=ORIGIN, snapshot=snapshot or max(kept))
    have = lake.value(f"select max(number) from {ORIGIN}.raw.schema_migrations")
    if have != migrations()[-1][0] or applied(lake) != have:
        raise BadInput(
            f"the source has raw schema {have}, this Gradelake {migrations()[-1][0]}",
            "Run `gradelake build` on the source first: any write brings it up to date.",
        )
    return max(kept)


def _require_unchanged(source: Project, snapshot: int) -> None:
    """Raise `WorkFailed` where a file to be copied is not as it was committed."""
    catalog = (
        read_postgres(source)[0]
        if source.on_postgres
        else read_sqlite(source, LIVE, catalog_file(source))
    )
    storage = Storage(source)
    files = [
        file
        for file in catalog.files
        if file.is_in(snapshot) and (file.table.startswith("raw.") or file.table == _HISTORY)
    ]
    for file in changed(storage, files, catalog.hashes):
        raise WorkFailed(
            f"{storage.path(file.path)} has other bytes than when it was committed",
            "Nothing of it was copied. `gradelake lake verify --deep` says which rows are hit.",
        )


# --- copying --------------------------------------------------------------------------------------


def _tables(lake: Lake) -> list[str]:
    """What to copy, as schema.table; the large tables last."""
    rows = lake.rows(
        "select schema_name || '.' || table_name from duckdb_tables() "
        "where database_name = ? and (schema_name = 'raw' or schema_name || '.' || table_name = ?) "
        "order by estimated_size, 1",
        ORIGIN,
        _HISTORY,
    )
    return [table for (table,) in rows if table.partition(".")[2] not in _NOT_COPIED]


def _copy_table(lake: Lake, table: str, is_there: bool, origin: str, done: Copied) -> None:
    """Copy one table, unless it is there; compare both sides before it counts."""
    connection = lake.connection
    with lake.transaction("copy", "of a lake") as transaction:
        rows, digest = fingerprint(connection, f"{ORIGIN}.{table}")
        if not rows:
            return
        if not is_there:
            if table == _HISTORY:
                transaction.run(f"create table {{lake}}.{table} as from {ORIGIN}.{table} limit 0")
            transaction.run(f"insert into {{lake}}.{table} by name from {ORIGIN}.{table}")
        found = fingerprint(connection, f"{NAME}.{table}")
        if found != (rows, digest):
            raise WorkFailed(
                f"{table} differs after copying: {counted(found[0], 'rows')} instead of {rows:,}"
                if found[0] != rows
                else f"{table} differs after copying: {counted(rows, 'rows')}, but other values",
                "The copy is not to be used. Begin again with an empty lake, and please report "
                "this.",
            )
        (done.before if is_there else done.tables)[table] = rows
        if not is_there:
            transaction.extra |= {
                "copied_from": origin,
                "source_snapshot": done.snapshot,
                "copied_table": table,
            }
            transaction.say(**{table.partition(".")[2]: rows})


def _copy_replies(source: Project, target: Project) -> int:
    """Bring along replies that wait to be committed; the next grading run commits them."""
    n = 0
    for file in waiting_replies(source):
        place = grading_folder(target) / file.parent.name / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = place.with_name(f".{place.name}")
        try:
            shutil.copyfile(file, fresh)
        except FileNotFoundError:  # committed just now
            continue
        fresh.replace(place)
        n += 1
    return n


# --- what people keep -----------------------------------------------------------------------------


def _copy_seeds(source: Project, target: Project, done: Copied) -> list[str]:
    """Copy the seeds that the target's folder does not have; nothing is overwritten."""
    ours, theirs = seeds_folder(source), seeds_folder(target)
    if ours.resolve() == theirs.resolve():
        return []
    copied = []
    for file in sorted(ours.glob("*.csv")):
        place = theirs / file.name
        if not place.exists():
            theirs.mkdir(exist_ok=True)
            shutil.copyfile(file, place)
            copied.append(file.name)
        elif place.read_bytes() != file.read_bytes():
            done.warnings.append(f"{place}: differs from {file}, and was left as it is")
    return copied


def _warn_of_settings(source: Project, target: Project, done: Copied) -> None:
    for kind in ("collections", "graders", "gates", "sentinels", "probes"):
        ours, theirs = getattr(source, kind), getattr(target, kind)
        missing = [name for name in ours if ours[name] != theirs.get(name)]
        if missing:
            done.warnings.append(
                f"{target.file}: [{kind}] has not, or otherwise: {', '.join(missing)}. Nightly "
                f"work continues where it stopped, with the settings of {source.file}."
            )
