"""The lake as the next build would leave it, in memory: the same models, and nothing is written."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from gradelake.sql.build import building, changes, parsed, seeds
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import METADATA, NAME, SCHEMAS, attach
from gradelake.sql.lake.opening import Lake

BEFORE, BUILT = "before", "built"  # the lake as it is, and as the last build left it
_METADATA = f"__ducklake_metadata_{BEFORE}"
_VIEWS = "config.materialized:view"


@dataclass(frozen=True)
class Preview:
    """`lake` is as after the build. Beside it stand the catalogs `before` and, where there was a
    build, `built`; `release` is that build's."""

    lake: Lake
    release: str | None


@contextmanager
def previewed(
    project: Project, wanted: Sequence[str], instead: Mapping[str, bytes] | None = None
) -> Iterator[Preview]:
    """Run what changed and what the `wanted` models read through dbt, over the lake as it is.

    dbt meets a database in memory that is called as the lake is: what it does not make anew there
    reads the lake, at one snapshot, without a lock. `instead` has files that take the place of
    seeds, by name. Raises what a build raises.
    """
    with tempfile.TemporaryDirectory(prefix="gradelake-preview-") as folder:
        gathered = seeds.gather(project, Path(folder, "seeds"), instead)
        with Lake.live(project) as lake:
            snapshot = lake.newest_snapshot()
            found = changes.pending(lake, instead)
            last, changed = found.last, found.changed
            lake.connection.execute(f"detach {NAME}")
            attach(lake.connection, project, read_only=True, snapshot=snapshot, name=BEFORE)
            if last:
                attach(lake.connection, project, read_only=True, snapshot=last.snapshot, name=BUILT)
            _lay_over(lake, snapshot, raw_only=changed is None)
            if changed != []:
                shared = parsed.Shared(found.made_from["definitions"], [])
                environment = building.environment(project, Path(folder, "dbt"))
                with environment, building.lent_to_dbt(lake, gathered):
                    arguments = _selection(changed, wanted)
                    building.run_dbt(
                        lake, arguments, building.Built(), _unseen, _unseen, False, shared
                    )
            yield Preview(lake, last.release if last else None)


def _unseen(*_: object) -> None:
    """What a build shows of its progress, a preview does not."""


def _selection(changed: list[str] | None, wanted: Sequence[str]) -> list[str]:
    """dbt's arguments for what `wanted` models read of what changed."""
    models = ["--resource-type", "model", "--select"]
    if changed is None:
        return [*models, *(f"+{model}" for model in wanted)]
    pairs = [f"{each}+,+{model}" for each in changed for model in wanted]
    return [*models, *pairs, "--exclude", _VIEWS]


def _lay_over(lake: Lake, snapshot: int, raw_only: bool) -> None:
    """A database in memory in which all that the lake has can be read, or made anew."""
    connection = lake.connection
    connection.execute(f"attach ':memory:' as {NAME}")
    connection.execute("begin")  # DuckLake reads its catalog once in a transaction
    for schema in ("raw", *SCHEMAS):
        connection.execute(f"create schema {NAME}.{schema}")
    made = []
    for schema, table in _listed(lake, snapshot, "table", "table_name"):
        if schema == "raw" or not raw_only:
            connection.execute(
                f'create view {NAME}.{schema}."{table}" as from {BEFORE}.{schema}."{table}"'
            )
            made.append((schema, table))
    if not raw_only:
        made += _make_views(lake, snapshot)
    connection.execute("commit")
    _list_made(lake, made)
    connection.execute("begin")  # dbt's run, and all that is read after it


def _list_made(lake: Lake, made: list[tuple[str, str]]) -> None:
    """Where dbt looks for what there is (macros/list_relations.sql), as DuckLake would list it:
    nothing but views."""
    lake.connection.execute(f"attach ':memory:' as {METADATA.rstrip('.')}")
    lake.connection.execute(
        f"""
        create table {METADATA}ducklake_view as
        select
            unnest($names::varchar[]) as view_name,
            unnest($schemas::varchar[]) as schema_id,
            null as end_snapshot
        """,
        {"names": [name for _, name in made], "schemas": [schema for schema, _ in made]},
    )
    lake.connection.execute(
        f"""
        create table {METADATA}ducklake_table (
            table_name varchar, schema_id varchar, end_snapshot bigint
        )
        """
    )
    lake.connection.execute(
        f"""
        create table {METADATA}ducklake_schema as
        select unnest($schemas) as schema_id, schema_id as schema_name, null as end_snapshot
        """,
        {"schemas": ["raw", *SCHEMAS]},
    )


def _make_views(lake: Lake, snapshot: int) -> list[tuple[str, str]]:
    """The lake's views, over what is in memory. Each can be made once those that it reads are."""
    made = []
    views = _listed(lake, snapshot, "view", "view_name, sql")
    n_before = None
    while views and len(views) != n_before:
        n_before, waiting = len(views), []
        for schema, view, query in views:
            query = query.replace("{DUCKLAKE_CATALOG}", NAME)  # as DuckLake writes it
            try:
                lake.connection.execute(f'create view {NAME}.{schema}."{view}" as {query}')
                made.append((schema, view))
            except duckdb.Error:
                waiting.append((schema, view, query))
        views = waiting
    return made


def _listed(lake: Lake, snapshot: int, kind: str, columns: str) -> list[tuple]:
    """(schema, columns ...) of what DuckLake says the lake has, in the order it was made in."""
    return lake.rows(
        f"""
        select schemas.schema_name, {columns}
        from {_METADATA}.ducklake_{kind} as listed
        inner join {_METADATA}.ducklake_schema as schemas using (schema_id)
        where
            listed.begin_snapshot <= {snapshot:d}
            and coalesce(listed.end_snapshot > {snapshot:d}, true)
        order by listed.begin_snapshot, listed.{kind}_id
        """
    )
