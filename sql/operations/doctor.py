"""`gradelake doctor`: what is installed, configured and stored, and whether it holds together."""

import platform
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import duckdb

from gradelake.sql.ask.not_in_release import waiting
from gradelake.sql.common.console import size
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.plain_words import damage
from gradelake.sql.common.project import Project
from gradelake.sql.lake import extensions
from gradelake.sql.lake.connection import data_path, lock_file, open_duckdb
from gradelake.sql.lake.keys import KEYS, repeated
from gradelake.sql.lake.lock import lock_holder
from gradelake.sql.lake.migrate import applied, migrations
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import publishing

LOW_DISK = 1 << 30  # bytes


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `state` is good, note or bad; `hint` says what to do."""

    state: str
    what: str
    hint: str | None = None


def examine(
    project: Callable[[], Project],
    collections: Callable[[Project], list[Finding]] = lambda _: [],
    graders: Callable[[Project], list[Finding]] = lambda _: [],
) -> list[Finding]:
    """Everything worth knowing, in the order in which it would stop a person; other rooms look at
    collections and graders."""
    findings = _installation()
    try:
        found = project()
    except GradelakeError as error:
        return [*findings, Finding("bad", error.message, error.hint)]
    findings.append(Finding("good", f"configuration {found.file}"))
    return [*findings, *collections(found), *_lake(found), *graders(found)]


def _installation() -> list[Finding]:
    findings = []
    packages = ("gradelake", "duckdb", "dbt-core", "dbt-duckdb", "polars", "pandera", "ir-datasets")
    versions = []
    for package in packages:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            findings.append(Finding("bad", f"{package} is not installed", "pip install gradelake"))
    findings.append(Finding("good", f"Python {platform.python_version()}, {', '.join(versions)}"))
    for name, extra in extensions.EXTRAS.items():
        try:
            open_duckdb(name).close()
            findings.append(Finding("good", f"DuckDB extension {name}"))
        except GradelakeError as error:
            state = "note" if extra else "bad"
            findings.append(Finding(state, error.message, error.hint))
    return findings


def _lake(project: Project) -> list[Finding]:
    try:
        lake = Lake.live(project)
    except GradelakeError as error:
        return [Finding("bad", error.message, error.hint)]
    findings = []
    with lake:
        have, newest = applied(lake), migrations()[-1][0]
        if have < newest:
            what = f"raw schema {have}, newest {newest}"
            findings.append(Finding("note", what, "The next write brings it up to date."))
        readable = _readable(lake, project)
        findings.append(readable)
        if readable.state == "good":
            findings += _keys(lake)
        findings.append(_published(lake, project))
    if holder := lock_holder(lock_file(project)):
        findings.append(Finding("note", f"being written by {holder}"))
    free = shutil.disk_usage(project.lake_path).free
    state = "good" if free > LOW_DISK else "bad"
    hint = None if free > LOW_DISK else "Make room: with a full disk not even reading works."
    findings.append(Finding(state, f"{size(free)} free where the lake is", hint))
    return findings


def _readable(lake: Lake, project: Project) -> Finding:
    """Read a column of every raw table: counting rows never touches a data file, nor does
    counting a column that cannot be null."""
    counts, broken = [], []
    for table in KEYS:
        try:
            column = lake.rows(f"describe lake.raw.{table}")[0][0]
            n, _ = lake.rows(f"select count(*), bit_xor(hash({column})) from lake.raw.{table}")[0]
            if n:
                counts.append(f"{n:,} {table}")
        except duckdb.Error as error:
            broken.append(f"{table} ({damage(error)})")
    if broken:
        hint = "Restore the lake's data folder from a backup."
        if "://" in data_path(project):
            hint = "Are the AWS_ variables right?"
        return Finding("bad", f"cannot be read: {'; '.join(broken)}", hint)
    return Finding("good", f"lake {project.lake_path}: {', '.join(counts) or 'empty'}")


def repeated_keys(lake: Lake, tables: Iterable[str] = tuple(KEYS)) -> Iterator[tuple[str, str]]:
    """(raw table, what to say) for the tables in which a key occurs more than once."""
    for table in tables:
        if not KEYS[table]:
            continue
        columns = ", ".join(KEYS[table])
        hashes = repeated(columns, f"lake.raw.{table}")
        if not lake.rows(f"{hashes} limit 1"):
            continue
        n = lake.value(
            f"""
            select count(*) from (
                select 1 from lake.raw.{table} where hash({columns}) in ({hashes})
                group by {columns} having count(*) > 1
            )
            """
        )
        if n:
            yield table, f"more than one row for {counted(n, 'keys')} ({columns})"


def _keys(lake: Lake) -> list[Finding]:
    hint = "Please report this: commits are meant to prevent it."
    found = repeated_keys(lake)
    findings = [Finding("bad", f"raw.{table}: {what}", hint) for table, what in found]
    return findings or [Finding("good", "every key is unique")]


def _published(lake: Lake, project: Project) -> Finding:
    found = publishing.listed(lake.connection)
    if not found:
        return Finding("note", "nothing is published yet", "Run `gradelake build`.")
    newest = found[-1]
    if not publishing.is_published(project, newest):
        return Finding(
            "bad",
            f"release {newest.name} was committed but not published",
            "Readers have the one before. Run `gradelake build` to publish a new one.",
        )
    if later := waiting(lake, newest):
        return Finding("note", later, "`gradelake build` brings them in.")
    return Finding("good", f"release {newest.name} is up to date")
