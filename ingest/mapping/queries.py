"""Rows are of queries of a collection; they may name a query by its text."""

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import Problems, reject

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


def of_known_queries(
    lake: "Lake", collection: str, known: set[str], frame: pl.DataFrame, shown: str, leave_out: bool
) -> tuple[pl.DataFrame, Counter[str]]:
    """The rows of known queries, and how many of each other query were left out. Raises `Rejected`
    where none is to be left out, naming each other query once, by line."""
    frame = with_query_ids(lake, collection, known, frame)
    if not (unknown := set(frame["query_id"].unique()) - known):
        return frame, Counter()
    is_unknown = pl.col("query_id").is_in([*unknown])
    others = frame.filter(is_unknown)
    problems = Problems(shown, "Add these queries to the collection's topics, or remove the lines.")
    if not leave_out:
        lines = others.group_by("query_id").agg(pl.col("line").min(), pl.len()).sort("line")
        for query_id, line, n in lines.iter_rows():
            problems.add(line, f"unknown query {query_id!r} ({counted(n, 'lines')})")
    problems.raise_if_any()
    return frame.filter(~is_unknown), Counter(others["query_id"])


def note_of_left_out(left: Counter[str], n_kept: int, shown: str, collection: str) -> str:
    """What to say of it. Raises `Rejected` where that was all of a file."""
    first = ", ".join([*left][:5]) + (" ..." if len(left) > 5 else "")
    if not n_kept:
        message = f"none of its queries is a topic of {collection}: {first}"
        raise reject(shown, None, message, "Is this the right file?")
    return (
        f"{shown}: {counted(left.total(), 'lines')} left out, of "
        f"{counted(len(left), 'queries')} without a topic: {first}"
    )
