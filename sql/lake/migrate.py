"""Brings the raw schema of a lake up to date: numbered SQL files, each applied once, in order."""

from importlib import resources
from typing import Any

import duckdb

from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.lake.connection import NAME, SCHEMAS
from gradelake.sql.lake.empty_statistics import give_empty_statistics
from gradelake.sql.lake.hashes import make_table


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
    """Apply to an open `Lake` what is missing, in one transaction.

    Raises `WorkFailed` when the lake was made by a newer Gradelake.
    """
    newest, name, _ = migrations()[-1]
    if (have := applied(lake)) > newest:
        raise WorkFailed(
            f"this lake has raw schema {have}; this Gradelake knows only up to {newest}",
            "Update Gradelake.",
        )
    if have == newest:
        return
    make_table(lake)
    with lake.transaction("migration", f"{newest:03d} {name}") as transaction:
        have = applied(lake)  # another process may have been faster
        lake.connection.execute(f"USE {NAME}")
        for number, _, statements in migrations():
            if number <= have:
                continue
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
        lake.connection.execute("USE memory")
    give_empty_statistics(lake)
