"""What makes a row of each raw table unique, and which rows are not."""

from gradelake.sql.lake.raw_tables import raw_tables

# table -> columns (none: repeats are meaningful)
KEYS: dict[str, list[str]] = {name: table.key for name, table in raw_tables().items()}


def repeated(columns: str, source: str) -> str:
    """The query for the hashes (`key`) of what several rows of a source have in these columns. It
    sorts: DuckDB puts on disk what it cannot hold of that, but not always of what it groups."""
    return f"""
        with hashed as (select hash({columns}) as key from {source}),
        in_order as (
            select key, lag(key) over hashes as last, lag(key, 2) over hashes as last_but_one
            from hashed
            window hashes as (order by key)
        )
        select key from in_order where key = last and key is distinct from last_but_one
    """
