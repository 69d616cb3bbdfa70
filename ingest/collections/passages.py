"""Passages: those of the corpus, and those that generated responses were split into."""

import hashlib
from typing import Any

import polars as pl

from gradelake.ingest.collections.responses import Response
from gradelake.ingest.collections.targets import Targets
from gradelake.sql.common.counted import counted
from gradelake.sql.lake.contracts import types_of

# The passages that count for a query (the pool), over the tables of this transaction.
# dbt derives the pool that marts use; this is its superset for looking up texts.
POOL = """
    select passage_id from lake.raw.judgments where collection = $collection
    union
    select passage_id from lake.raw.run_entries where collection = $collection
    qualify row_number() over (
        partition by system, query_id order by score::float desc, passage_id desc
    ) <= $depth
"""
WITHOUT_TEXT = """
    anti join (select passage_id from lake.raw.passages where collection = $collection)
    using (passage_id)
"""


def add_generated(into: Targets, found: list[Response]) -> None:
    """Add the passages of responses that the lake does not have yet."""
    known = into.known("passages", "passage_id")
    rows = {
        passage_id: (passage_id, text, position)
        for response in found
        for position, (passage_id, text) in enumerate(response.passages(), start=1)
        if passage_id not in known
    }
    frame = pl.DataFrame(
        list(rows.values()),
        orient="row",
        schema=types_of("passages", "passage_id", "text", "position"),
    )
    into.transaction.insert("passages", into.own(_hashed(frame), origin="response"))


def add_corpus(into: Targets) -> None:
    """Bring in the corpus's passages: all of them, or those of the pool."""
    if not into.dataset.has_docs():
        return
    if into.collection.passages_for == "pool":
        _pooled(into)
    else:
        _all(into)
    if not into.transaction.dirty:
        return
    missing = into.transaction.lake.value(
        f"select count(*) from (select distinct passage_id from ({POOL}) {WITHOUT_TEXT})",
        collection=into.name,
        depth=into.collection.default_pool_depth,
    )
    if missing:
        into.outcome.warnings.append(
            f"{counted(missing, 'pooled passages', 'have')} no text here "
            "(they can be ranked, not graded)"
        )


def _all(into: Targets) -> None:
    shown = into.collection.passages
    target = into.target("passages")
    sha256 = into.file_hash(shown) if shown else into.dataset_id
    if not into.changed(target, sha256):
        return
    found = into.from_dataset("passages", lambda: into.dataset.docs_iter())
    n_rows = _replace(into, found)
    into.written("passages", target, sha256, n_rows)


def _pooled(into: Targets) -> None:
    """Look up only what systems ranked high, or assessors judged, and the lake has not.

    From another file or dataset than last time, all of them are looked up anew.
    """
    shown = into.collection.passages
    target = into.target("pooled_passages")
    sha256 = into.file_hash(shown) if shown else into.dataset_id
    is_new = into.changed(target, sha256)
    wanted = into.transaction.lake.column(
        f"select distinct passage_id from ({POOL}) {'' if is_new else WITHOUT_TEXT} "
        "order by passage_id",
        collection=into.name,
        depth=into.collection.default_pool_depth,
    )
    if not wanted:
        return
    found = into.from_dataset("passages", lambda: into.dataset.docs_store().get_many_iter(wanted))
    n_rows = _replace(into, found)
    if is_new:
        into.written("passages", target, sha256, n_rows)
    else:
        into.count("passages", n_rows)


def _replace(into: Targets, found: list[Any]) -> int:
    """Insert passages, replacing those with the same id. Others in the lake stay."""
    frame = pl.DataFrame(
        [(doc.doc_id, doc.default_text()) for doc in found],
        orient="row",
        schema=types_of("passages", "passage_id", "text"),
    )
    blank = frame["text"].fill_null("").str.strip_chars() == ""
    if blank.any():
        into.outcome.warnings.append(
            f"{counted(int(blank.sum()), 'passages', 'have')} an empty text; left out"
        )
        frame = frame.filter(~blank)
    if frame.is_empty():
        return 0
    shown = into.collection.passages or into.dataset_id
    rows = into.checked("passages", _hashed(frame), shown, origin="corpus")
    connection = into.transaction.lake.connection
    connection.register("new_passages", frame)
    into.transaction.run(
        "delete from {lake}.raw.passages where collection = ? "
        "and passage_id in (select passage_id from new_passages)",
        into.name,
    )
    connection.unregister("new_passages")
    return into.transaction.insert_checked("passages", rows)


def _hashed(passages: pl.DataFrame) -> pl.DataFrame:
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in passages["text"]]
    return passages.with_columns(pl.Series("text_sha256", hashes, dtype=pl.String))
