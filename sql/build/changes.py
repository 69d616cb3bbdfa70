"""What changed since the last build. `build` runs what is downstream of it, or ends at once."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from gradelake.sql.build import seeds
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import METADATA
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import publishing

DBT_PROJECT = seeds.PACKAGED.parent
_FOLDERS = ("macros", "models", "snapshots", "tests")
_MADE_BY = ("dbt-core", "dbt-duckdb", "duckdb", "gradelake")
# raw tables that tell of commands, not of data; what shows them is read in the working catalog
BOOKKEEPING = ("kept_releases", "ledger", "pipeline_runs", "review_samples", "schema_migrations")


@dataclass(frozen=True)
class LastBuild:
    """The newest build of all models: its release (None where dbt by itself built, which publishes
    nothing), its snapshot, and hashes of what it was made from."""

    release: str | None
    snapshot: int
    made_from: dict[str, str]


def definitions() -> str:
    """One hash for the models' code and for the versions of what runs it; without the files of
    unit tests, which change no model and are in no wheel."""
    made_of = hashlib.sha256(" ".join(map(version, _MADE_BY)).encode())
    files = [DBT_PROJECT / name for name in ("dbt_project.yml", "selectors.yml")]
    for folder in _FOLDERS:
        files += sorted(file for file in (DBT_PROJECT / folder).rglob("*") if file.is_file())
    for file in files:
        if file.name.endswith("_unit_tests.yml"):
            continue
        made_of.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    return made_of.hexdigest()


def made_from(project: Project, instead: Mapping[str, bytes] | None = None) -> dict[str, str]:
    """Hashes of what a build is made from beside the raw tables: the definitions, and each seed.

    `instead` and what is raised: as in `seeds.contents`.
    """
    return {"definitions": definitions()} | seeds.hashes(seeds.contents(project, instead))


def last_build(lake: Lake) -> LastBuild | None:
    """The newest build of all models; None before the first."""
    rows = lake.rows(
        """
        select
            json_extract_string(commit_extra_info, '$.release'),
            snapshot_id,
            json_extract(commit_extra_info, '$.made_from')
        from lake.snapshots()
        where json_extract(commit_extra_info, '$.made_from') is not null
        order by snapshot_id desc
        limit 1
        """
    )
    return LastBuild(rows[0][0], rows[0][1], json.loads(rows[0][2])) if rows else None


@dataclass(frozen=True)
class Pending:
    """What the next build is made from, and what changed since the last one: see `since`."""

    last: LastBuild | None
    made_from: dict[str, str]
    changed: list[str] | None


def pending(lake: Lake, instead: Mapping[str, bytes] | None = None) -> Pending:
    """What a build of an open lake would do now. Raises what `seeds.contents` raises."""
    now, last = made_from(lake.project, instead), last_build(lake)
    return Pending(last, now, since(lake, last, now))


def since(lake: Lake, last: LastBuild | None, now: dict[str, str]) -> list[str] | None:
    """dbt's selectors of what changed since the last build: raw tables, by DuckLake's own record of
    what each commit touched, and seeds.

    None where that cannot be known: before the first build, with other definitions, and after a
    build of some models, a migration, a run of dbt alone, or a commit by something else.
    """
    if last is None or last.made_from["definitions"] != now["definitions"]:
        return None
    if lake.rows(
        f"""
        select snapshot_id
        from lake.snapshots()
        where
            snapshot_id > {last.snapshot:d}
            and coalesce(json_extract_string(commit_extra_info, '$.kind'), 'build')
                in ('build', 'migration')
        limit 1
        """
    ):
        return None
    edited = [seed for seed in now if last.made_from.get(seed) != now[seed]]
    return edited + [f"source:raw.{table}" for table in _raw_tables_since(lake, last.snapshot)]


def unchanged_release(project: Project) -> str | None:
    """The newest release, if a build would find nothing changed since, or None; a night asks."""
    with Lake.writer(project) as lake:
        try:
            found = pending(lake)
        except BadInput:  # a build says what is wrong with the seeds
            return None
        last = found.last
        if last is None or last.release is None or found.changed != []:
            return None
        release = publishing.named(publishing.listed(lake.connection), last.release)
        return release.name if publishing.is_published(project, release) else None


def _raw_tables_since(lake: Lake, snapshot: int) -> list[str]:
    rows = lake.rows(
        f"""
        with

        touched as (
            select distinct unnest(flatten(map_values(changes))) as table_id
            from lake.snapshots()
            where
                snapshot_id > {snapshot:d}
                and json_extract_string(commit_extra_info, '$.kind') != 'tidy'
        )

        select distinct tables.table_name
        from {METADATA}ducklake_table as tables
        inner join {METADATA}ducklake_schema as schemas using (schema_id)
        inner join touched on touched.table_id = cast(tables.table_id as varchar)
        where
            schemas.schema_name = 'raw'
            and tables.table_name not in {BOOKKEEPING}
        order by tables.table_name
        """
    )
    return [table for (table,) in rows]
