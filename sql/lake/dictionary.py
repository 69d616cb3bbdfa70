"""What the columns of a lake's tables mean."""

from collections import ChainMap
from collections.abc import Iterable, Mapping

import duckdb

from gradelake.sql.lake.opening import Lake


def meanings(lake: Lake) -> dict[str, dict[str, str]]:
    """The words for each column of marts, raw tables and seeds: `meanings(lake)["kappa"]["cut"]`.

    Tables of other schemas than `marts` have its name in theirs, as `raw.queries`. The words are
    those of the release that is read, in the order of its columns. Nothing before the first build.
    """
    try:
        found = lake.rows(
            """
            select
                if(schema_name = 'marts', table_name, schema_name || '.' || table_name) as shown,
                map(
                    list(column_name order by position),
                    list(description order by position)
                ) as meanings
            from lake.marts.columns
            group by all
            """
        )
    except duckdb.CatalogException:
        return {}
    return dict(found)


def words_of(lake: Lake, tables: Iterable[str]) -> Mapping[str, str]:
    """The words for the columns of some tables, by their names: those of the first that has one."""
    known = meanings(lake)
    return ChainMap(*(known.get(table, {}) for table in tables))
