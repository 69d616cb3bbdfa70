"""A hash of what each commit wrote, taken when it is done. Nothing of it ever changes: what has
another hash later was changed by the disk, or by somebody.

There is one of every data file; of the rows that a small commit left in the catalog itself, by
table; and of each release's copy of the catalog. They are in a table beside DuckLake's own, in the
catalog, and so in each release and backup. A table of the lake could not hold the hash of its own
file, and would take a further commit for each. A process that is killed in between leaves files
without a hash: the next build gives them theirs.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import duckdb

from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.files import sha256_of
from gradelake.sql.common.plain_words import damage
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import METADATA, quote, release_files
from gradelake.sql.lake.storage import Storage

TABLE = "gradelake_files"
RECORDED = "select path, sha256 from {}" + TABLE
_HERE = f"{METADATA}{TABLE}"
INLINED = "inlined/"  # begins, in a path's place, what is in the catalog itself: TABLE@SNAPSHOT


def make_table(lake: Any) -> None:
    """Give an open `Lake` the table of hashes, if it has none."""
    lake.rows(f"create table if not exists {_HERE} (path varchar, sha256 varchar)")


def record(lake: Any, paths: Iterable[str]) -> None:
    """Write down the hashes of data files of an open `Lake` that have none. Hold the writer's lock.

    A file that cannot be read gets none: whoever reads its rows says what is wrong.
    """
    found, storage = {}, Storage(lake.project, lake.connection)
    for path in paths:
        with suppress(OSError, WorkFailed):
            found[path] = storage.sha256(path)
    _write(lake, found)


def record_inlined(lake: Any) -> None:
    """Record hashes of the rows that the last commit left in the catalog."""
    snapshot, changes = lake.rows(
        f"select snapshot_id, changes_made from {METADATA}ducklake_snapshot_changes "
        "order by snapshot_id desc limit 1"
    )[0]
    for table_id in {int(each) for each in re.findall(r"inlined_\w+:(\d+)", changes)}:
        for table in _inlined_tables(lake, table_id):
            _write(lake, _inlined(lake, table, snapshot))


def record_missing(lake: Any, paths: Collection[str]) -> None:
    """Record hashes of those of many files that have none, of all such rows, and of releases."""
    make_table(lake)
    have = dict(lake.rows(RECORDED.format(METADATA)))
    record(lake, sorted(set(paths) - have.keys()))
    lake.connection.execute("begin")  # for each transaction DuckDB reads the catalog's tables anew
    for table in _inlined_tables(lake):
        found = _inlined(lake, table)
        _write(lake, {key: found[key] for key in found.keys() - have.keys()})
    lake.connection.execute("commit")
    record_releases(lake)


def record_releases(lake: Any) -> None:
    """Record hashes of the releases' copies of a SQLite catalog."""
    if not lake.project.on_postgres:
        have = dict(lake.rows(RECORDED.format(METADATA)))
        new = {key: file for key, file in releases(lake.project).items() if key not in have}
        _write(lake, {key: sha256_of(file) for key, file in new.items()})


def forget(lake: Any, needed: Collection[str]) -> None:
    """Remove the hashes of all files but these, the releases, and rows that are in the catalog."""
    with lake.one_state():  # for each transaction DuckDB reads the catalog's tables anew
        inside = [_inlined(lake, table) for table in _inlined_tables(lake)]
    needed = set(needed).union(releases(lake.project), *inside)
    lake.rows(f"delete from {_HERE} where path not in (select unnest(?))", sorted(needed))


def releases(project: Project) -> dict[str, Any]:
    """The releases' copies of the catalog, by what stands for a path."""
    return {f"releases/{file.name}": file for file in release_files(project)}


def _inlined_tables(lake: Any, table_id: int | None = None) -> dict[str, int]:
    """DuckLake's tables of rows that are in the catalog, and of what is deleted from data files
    there: name -> id of the table they belong to."""
    query = f"select table_name, table_id from {METADATA}ducklake_inlined_data_tables"
    found = dict(lake.rows(query if table_id is None else f"{query} where table_id = {table_id}"))
    for each in sorted(set(found.values())):
        name = f"ducklake_inlined_delete_{each}"
        with suppress(duckdb.CatalogException):  # made with the first such deletion
            lake.rows(f"from {METADATA}{name} limit 0")
            found[name] = each
    return found


def _inlined(lake: Any, table: str, snapshot: int | None = None) -> dict[str, str]:
    """What one of those tables holds of each commit (or of one): the rows that it brought, and
    which it took away, as a hash by what stands for a path."""
    ends, more = ("null", "") if "_delete_" in table else ("end_snapshot", ", end_snapshot")
    which = "" if snapshot is None else f"where {snapshot} in (begin_snapshot, {ends})"
    rows = lake.rows(
        f"select begin_snapshot, {ends}, row_id, * exclude (begin_snapshot, row_id{more}) "
        f"from {METADATA}{table} {which}"
    )
    groups: dict[int, list[str]] = {}
    for first, last, *row in rows:
        groups.setdefault(first, []).append(json.dumps(row, default=str))
        if last is not None:
            groups.setdefault(last, []).append(f"gone: {row[0]}")
    return {
        f"{INLINED}{table}@{each}": hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
        for each, lines in groups.items()
        if snapshot in (None, each)
    }


class Changed(NamedTuple):
    """Rows in the catalog that are not those of their commit; `key` is None where a table of them
    cannot be read."""

    table_id: int
    table: str
    key: str | None
    what: str


def changed_inlined(lake: Any) -> tuple[list[Changed], int]:
    """What is wrong, and how many commits' rows have no hash yet. Call it in a transaction: nobody
    then writes in between."""
    recorded = dict(lake.rows(RECORDED.format(METADATA)))
    wrong, unhashed = [], 0
    for table, table_id in _inlined_tables(lake).items():
        try:
            found = _inlined(lake, table)
        except duckdb.Error as error:
            what = f"what is in the catalog cannot be read: {damage(error)}"
            wrong.append(Changed(table_id, table, None, what))
            lake.connection.execute("rollback")  # DuckDB refuses all else in this transaction
            lake.connection.execute("begin")
            continue
        unhashed += len(found.keys() - recorded.keys())
        for key in sorted(key for key in recorded if key.startswith(f"{INLINED}{table}@")):
            # tidying writes all rows of a table to files: none is older than those that went then
            is_older = any(_version(each) < _version(key) for each in found)
            if found.get(key, None if is_older else recorded[key]) != recorded[key]:
                what = f"the catalog has other rows than version {_version(key)} committed"
                wrong.append(Changed(table_id, table, key, what))
    return wrong, unhashed


def renew_inlined(lake: Any, table: str, wrong: Collection[str | None]) -> None:
    """Write down anew what is left of an inlined table, of which rows were just deleted; of what
    was `wrong` before the old hash stays, while there is any of it."""
    found = _inlined(lake, table)
    staying = [key for key in wrong if key in found]
    lake.rows(
        f"delete from {_HERE} where starts_with(path, ?) "
        "and path not in (select unnest(?::varchar[]))",
        f"{INLINED}{table}@",
        staying,
    )
    _write(lake, {key: sha256 for key, sha256 in found.items() if key not in wrong})


def _version(key: str) -> int:
    return int(key.rpartition("@")[2])


def _write(lake: Any, found: Mapping[str, str]) -> None:
    if found:
        rows = ", ".join(f"({quote(path)}, {quote(sha256)})" for path, sha256 in found.items())
        lake.connection.execute(f"insert into {_HERE} values {rows}")
