"""Whether the raw tables keep their contracts, and the grades agree with their ledger."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import duckdb
import polars as pl

from gradelake.sql.common.counted import counted
from gradelake.sql.common.plain_words import damage
from gradelake.sql.common.problems import BadRows
from gradelake.sql.lake.keys import KEYS
from gradelake.sql.lake.migrate import applied, migrations
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import contract
from gradelake.sql.lake.transaction import CHUNK
from gradelake.sql.operations.doctor import repeated_keys
from gradelake.sql.operations.upkeep.lake_files import LIVE

_ROWS = 500_000  # checked at a time
_REPORT = "Please report this: commits are meant to prevent it. A backup may have it as it was."


@dataclass(frozen=True)
class Fault:
    """One thing wrong: which file or table, which catalogs are hit, and what to do."""

    what: str
    hint: str
    file: str | None = None
    table: str | None = None
    hits: list[str] = field(default_factory=list)


@dataclass
class Verified:
    """What was looked at and what was found."""

    deep: bool = False
    catalogs: list[str] = field(default_factory=list)
    files: int = 0
    bytes: int = 0
    compared: int = 0  # files whose bytes were compared with a backup's
    unhashed: int = 0  # files that have no hash of their commit yet
    unhashed_in_catalog: int = 0  # small commits and releases that have none
    orphans: int = 0  # files that no catalog names
    orphan_bytes: int = 0
    tables: dict[str, int] = field(default_factory=dict)  # raw tables checked: rows
    notes: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        return 1 if self.faults else 0

    def as_object(self) -> dict[str, Any]:
        return {"ok": not self.faults, **asdict(self)}


# what must be nothing: (what its rows count, what a row of it means, where {} are that count and
# the other cells, query)
_LEDGER = [
    (
        "replies",
        "{} of grader {} that raw.graders does not have",
        """
        select count(*), grader_id from lake.raw.replies
        where grader_id not in (select grader_id from lake.raw.graders) group by grader_id
        """,
    ),
    (
        "grades",
        "{} of grader {} that raw.graders does not have",
        """
        select count(*), grader_id from lake.raw.grades
        where grader_id not in (select grader_id from lake.raw.graders) group by grader_id
        """,
    ),
    (
        "grades",
        "{} of run {} that neither raw.grading_runs nor raw.ledger has",
        """
        select count(*), run_id from lake.raw.grades
        where
            run_id not in (select run_id from lake.raw.grading_runs)
            and run_id not in (select run_id from lake.raw.ledger)
        group by run_id
        """,
    ),
    # failed pairs are taken out when they are graded again, so they are left out here
    (
        "grades",
        "{} of finished run {}, which counted {:,} (failed ones aside)",
        """
        with of_runs as (
            select run_id, count(*) filter (where status != 'failed') as n
            from lake.raw.grades group by run_id
        )
        select coalesce(of_runs.n, 0) as found, run_id,
            runs.ok + runs.unanswerable + runs.defaulted as counted
        from lake.raw.grading_runs as runs
        left join of_runs using (run_id)
        where runs.state = 'done' and found != counted
        """,
    ),
    # a grader's failed grades may be among the imported ones: there may be fewer, but not none
    (
        "grades",
        "{} of import {}, for which the ledger has {:,}",
        """
        with of_runs as (select run_id, count(*) as n from lake.raw.grades group by run_id)
        select coalesce(of_runs.n, 0) as found, target, n_rows
        from lake.raw.ledger
        left join of_runs using (run_id)
        where
            regexp_full_match(target, '[^/]+/(labels|grades)/[^/]+')
            and (
                found > n_rows
                or (found < n_rows and (found = 0 or target like '%/labels/%'))
            )
        """,
    ),
    (
        "graded pairs",
        "{} (beside those that were reused), and the ledger's chunks hold {:,}",
        f"""
        select
            (
                select count(*) from lake.raw.grades
                where run_id in (select run_id from lake.raw.grading_runs)
            ) - (select coalesce(sum(reused), 0) from lake.raw.grading_runs)
            + (select count(*) from lake.raw.sentinel_grades) as graded,
            (
                select coalesce(sum(n_rows), 0) from lake.raw.ledger
                where starts_with(target, '{CHUNK}')
            ) as held
        where graded > held
        """,
    ),
]


def check_rows(lake: Lake, broken: set[str | None], done: Verified) -> None:
    """Add what is wrong with the rows to `done`; tables with a broken file are left out."""
    have, newest = applied(lake), migrations()[-1][0]
    if have != newest:
        done.notes.append(
            f"raw schema {have}, this Gradelake knows {newest}: the raw rows were not checked "
            "(the next write brings an older one up to date)"
        )
        return
    broken = set(broken)
    for table in KEYS:
        if f"raw.{table}" in broken:
            continue
        try:
            done.faults += _faults_of(lake, table, done)
        except duckdb.Error as error:
            what = f"cannot be read: {damage(error)}"
            hint = "`gradelake lake verify --deep` says which file, and what to do."
            done.faults.append(Fault(what, hint, None, f"raw.{table}", [LIVE]))
            broken.add(f"raw.{table}")
            lake.connection.execute("rollback")  # DuckDB refuses all else in this transaction
            lake.connection.execute("begin read only")
    read = ("grades", "graders", "grading_runs", "ledger", "sentinel_grades")
    if not {f"raw.{table}" for table in read} & broken:
        done.faults += [
            _fault(meaning.format(counted(n, what), *cells), "grades")
            for what, meaning, query in _LEDGER
            for n, *cells in lake.rows(query)
        ]


def _fault(what: str, table: str) -> Fault:
    return Fault(what, _REPORT, None, f"raw.{table}", [LIVE])


def _faults_of(lake: Lake, table: str, done: Verified) -> list[Fault]:
    faults = [_fault(what, table) for _, what in repeated_keys(lake, [table])]
    faults += _broken_contract(lake, table, done)
    if table == "passages" and done.deep:
        n = lake.value("select count(*) from lake.raw.passages where sha256(text) != text_sha256")
        if n:
            what = "whose text is not the one that was ingested (text_sha256)"
            faults.append(_fault(f"{counted(n, 'passages')} {what}", table))
    return faults


def _broken_contract(lake: Lake, table: str, done: Verified) -> Iterator[Fault]:
    """A fault for every check of a table's contract that rows break. Keys are not looked at."""
    broken: dict[str, list] = {}
    done.tables[table] = 0
    reader = lake.connection.execute(f"select * from lake.raw.{table}").to_arrow_reader(_ROWS)
    for batch in reader:
        rows = pl.from_arrow(batch)
        assert isinstance(rows, pl.DataFrame)  # of an array it would be a series
        done.tables[table] += rows.height
        try:
            contract(table).validate(rows, unique=False)
        except BadRows as error:
            for column, value, check in error.failure_cases.select(
                "column", "failure_case", "check"
            ).iter_rows():
                broken.setdefault(f"{column}: {check}", []).append(value)
    for check, values in broken.items():
        yield _fault(
            f"{counted(len(values), 'rows', 'break')} its contract: {check} "
            f"(such as {values[0]!r})",
            table,
        )
