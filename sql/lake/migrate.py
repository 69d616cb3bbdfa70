"""The raw tables of a lake, made as they are declared, or brought up to date.

A new lake gets the tables of dbt_project/models/raw/. An older one gets what was declared since:
numbered SQL files, each applied once, in order. Both end with the same columns.
"""

from importlib import resources
from typing import Any

import duckdb

from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.lake.connection import NAME, SCHEMAS
from gradelake.sql.lake.empty_statistics import give_empty_statistics
from gradelake.sql.lake.hashes import make_table
from gradelake.sql.lake.raw_tables import raw_tables

# number and name of the schema of 0.1.0, the first release; lakes that are older than it came to it
# by eight migrations, of which this was the last
FIRST = (9, "batches")
# Tables of long texts. DuckDB holds the rows of a Parquet file's row group until it is written, by
# default 122,880 of them for each thread: of texts of 20 kB more than many a machine has.
LONG_TEXTS = ("passages", "answers", "sentences", "replies", "brought_along")
ROWS_AT_ONCE = 10_240


def migrations() -> list[tuple[int, str, str]]:
    """(number, name, SQL) of every schema there was, in order; the first has no SQL."""
    found = [(*FIRST, "")]
    for file in resources.files("gradelake.sql.lake.migrations").iterdir():
        if file.name.endswith(".sql"):
            number, _, name = file.name.removesuffix(".sql").partition("_")
            found.append((int(number), name, file.read_text(encoding="utf-8")))
    return sorted(found)


def applied(lake: Any) -> int:
    """Number of the newest migration an open `Lake` has; 0 for a new one.

    Raises `WorkFailed` where it was made before there were releases of Gradelake.
    """
    query = f"select number, name from {NAME}.raw.schema_migrations order by number"
    try:
        schemas = lake.rows(query)
    except duckdb.CatalogException:
        return 0
    if FIRST not in schemas:
        raise WorkFailed(
            "this lake was made before Gradelake 0.1.0, which cannot read it",
            "Move it away, and make a new one with `gradelake init` and `gradelake ingest`.",
        )
    return schemas[-1][0]


def migrate(lake: Any) -> None:
    """Apply to an open `Lake` what is missing, in one transaction.

    Raises `WorkFailed` when the lake was made by a newer Gradelake, or before 0.1.0.
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
        if not have:
            for schema in ("raw", *SCHEMAS):
                transaction.run(f"create schema if not exists {schema}")
            for table, declared in raw_tables().items():
                transaction.run(declared.create(table))
            transaction.run(
                "create table raw.schema_migrations "
                "(number integer not null, name varchar not null, applied_at timestamp not null)"
            )
        for number, name, statements in migrations():
            if have and number > have:
                transaction.run(statements.replace("{", "{{").replace("}", "}}"))
            if number > have:
                transaction.run(
                    "insert into raw.schema_migrations values (?, ?, ?)", number, name, utc_now()
                )
        lake.connection.execute("USE memory")
    known = f"from duckdb_tables() where database_name = '{NAME}' and schema_name = 'raw'"
    for table in set(LONG_TEXTS) & set(lake.column(f"select table_name {known}")):
        # a table cannot have it in the transaction that makes it
        lake.connection.execute(
            f"call {NAME}.set_option('parquet_row_group_size', {ROWS_AT_ONCE}, "
            f"schema => 'raw', table_name => '{table}')"
        )
    give_empty_statistics(lake)
