"""Rows may name a query by its text."""

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from gradelake.sql.lake.opening import Lake


def with_query_ids(
    lake: "Lake", collection: str, known: set[str], frame: pl.DataFrame
) -> pl.DataFrame:
    """Rows with the id of the query where `query_id` is none but the text of just one topic."""
    if not (unknown := set(frame["query_id"].unique()) - known):
        return frame
    ids = lake.rows(
        """
        select trim(text), any_value(query_id)
        from lake.raw.queries
        where collection = $collection and trim(text) in (select unnest($named))
        group by trim(text)
        having count(*) = 1
        """,
        collection=collection,
        named=[*unknown],
    )
    return frame.with_columns(pl.col("query_id").replace(dict(ids)))
