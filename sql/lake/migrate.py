"""Brings the raw schema of a lake up to date: numbered SQL files, each applied once, in order."""

from importlib import resources
from typing import Any

import duckdb

from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.lake.connection import NAME, SCHEMAS
from gradelake.sql.lake.empty_statistics import give_empty_statistics
from gradelake.sql.lake.transaction import utc_now


def migrations() -> list[tuple[int, str, str]]:
    """(number, name, SQL) of every migration shipped, in order."""
    found = []
    for file in resources.files("gradelake.sql.lake.migrations").iterdir():
        if file.name.endswith(".sql"):
            number, _, name = file.name.removesuffix(".sql").partition("_")
            found.append((int(number), name, file.read_text(encoding="utf-8")))
    return sorted(found)


def applied(lake: Any) -> int:
    """Number of the newest migration an open `Lake` has; 0 for a new one."""
    try:
        return lake.value(f"select max(number) from {NAME}.raw.schema_migrations") or 0
    except duckdb.CatalogException:
        return 0


def migrate(lake: Any) -> None:
    """Apply to an open `Lake` what is missing, each migration in a transaction of its own.

    Raises `WorkFailed` when the lake was made by a newer Gradelake.
    """
    newest = migrations()[-1][0]
    if (have := applied(lake)) > newest:
        raise WorkFailed(
            f"this lake has raw schema {have}; this Gradelake knows only up to {newest}",
            "Update Gradelake.",
        )
    if have == newest:
        return
    for number, name, statements in migrations():
        with lake.transaction("migration", f"{number:03d} {name}") as transaction:
            if number <= applied(lake):  # another process was faster
                continue
            lake.connection.execute(f"USE {NAME}")
            transaction.run(statements.replace("{", "{{").replace("}", "}}"))
            transaction.run(
                "create table if not exists {lake}.raw.schema_migrations "
                "(number integer not null, name varchar not null, applied_at timestamp not null)"
            )
            transaction.run(
                "insert into {lake}.raw.schema_migrations values (?, ?, ?)", number, name, utc_now()
            )
            for schema in SCHEMAS:
                transaction.run(f"create schema if not exists {{lake}}.{schema}")
            # dbt leaves unchanged views alone, but these read the tables that have just changed
            for (view,) in lake.rows(
                "select view_name from duckdb_views() where database_name = ? "
                "and schema_name = 'staging'",
                NAME,
            ):
                transaction.run(f"drop view {{lake}}.staging.{view}")
            lake.connection.execute("USE memory")
    give_empty_statistics(lake)
