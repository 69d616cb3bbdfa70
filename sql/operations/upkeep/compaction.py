"""Fewer and larger files: what many small commits wrote is put together. No row changes by it."""

from gradelake.sql.common import console
from gradelake.sql.lake import hashes
from gradelake.sql.lake.connection import METADATA, NAME
from gradelake.sql.lake.opening import Lake
from gradelake.sql.releases import data_files

SMALL = 10 << 20  # bytes: files below are merged. Above, releases go on sharing them unmerged
FLUSH_FROM = 5_000  # rows of a table that are in the catalog, and so in every release's copy of it
MERGE_FROM = 8  # a table's small files are merged when there are so many


def flush_inlined_rows(lake: Lake, flush_from: int = FLUSH_FROM) -> None:
    """Write the rows of small commits, which DuckLake has in its catalog, to Parquet files; those
    of a table that are not as they were committed stay where `verify` tells them."""
    meta = METADATA
    with lake.one_state():
        wrong = {each.table_id for each in hashes.changed_inlined(lake)[0]}
    tables: dict[tuple[str, str], int] = {}
    for schema, table, table_id, inlined in lake.rows(
        f"""
        select tables.schema_name, tables.table_name, tables.table_id, inlined.table_name
        from {meta}ducklake_inlined_data_tables as inlined
        inner join ({data_files.TABLES}) as tables using (table_id)
        """
    ):
        if table_id in wrong:
            console.warn(f"{schema}.{table}: not tidied. `gradelake lake verify` says why")
            continue
        rows = lake.value(f"select count(*) from {meta}{inlined} where end_snapshot is null")
        tables[schema, table] = tables.get((schema, table), 0) + rows
    for (schema, table), rows in tables.items():
        if rows >= flush_from:
            with lake.transaction("tidy") as transaction:
                call = f"call ducklake_flush_inlined_data('{NAME}', schema_name => ?"
                transaction.run(f"{call}, table_name => ?)", schema, table)
                transaction.say(rows_moved_from_the_catalog=rows)


def forget_inlined_rows(lake: Lake) -> None:
    """Delete rows in the catalog that no snapshot reads any more: DuckLake leaves them there."""
    meta = METADATA
    with lake.one_state():
        found, _ = hashes.changed_inlined(lake)
    wrong = {each.key for each in found}
    unreadable = [each.table for each in found if each.key is None]
    tables = lake.column(f"select table_name from {meta}ducklake_inlined_data_tables")
    for inlined in sorted(set(tables).difference(unreadable)):
        gone = lake.rows(
            f"""
            select distinct begin_snapshot, end_snapshot
            from {meta}{inlined} as inlined
            where
                end_snapshot is not null
                and not exists (
                    select 1 from {meta}ducklake_snapshot
                    where
                        snapshot_id >= inlined.begin_snapshot
                        and snapshot_id < inlined.end_snapshot
                )
            """
        )
        if not gone:
            continue
        lake.connection.execute("begin")
        for first, last in gone:
            lake.rows(
                f"delete from {meta}{inlined} where begin_snapshot = ? and end_snapshot = ?",
                first,
                last,
            )
        hashes.renew_inlined(lake, inlined, wrong)
        lake.connection.execute("commit")


def merge_small_files(lake: Lake, merge_from: int = MERGE_FROM) -> int:
    """Merge the small files of every table that has many, a commit for each. Returns how many.

    Older snapshots read the same rows as before. Files with deleted rows are left alone: rewriting
    them, together with flushing rows that are in the catalog, can double rows of older snapshots
    in this version of DuckLake.
    """
    tables = lake.rows(
        f"""
        select tables.schema_name, tables.table_name
        from {METADATA}ducklake_data_file as files
        inner join ({data_files.TABLES}) as tables using (table_id)
        where files.end_snapshot is null and files.file_size_bytes < {SMALL}
        group by all
        having count(*) >= {merge_from:d}
        order by all
        """
    )
    merged = 0
    for schema, table in tables:
        with lake.transaction("tidy") as transaction:
            rows = lake.rows(
                f"call ducklake_merge_adjacent_files('{NAME}', ?, schema => ?, "
                f"max_file_size => {SMALL})",
                table,
                schema,
            )
            if n := sum(row[2] for row in rows):
                transaction.dirty = True
                transaction.say(files_merged=n)
                merged += n
    return merged
