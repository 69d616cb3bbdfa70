"""Passages: those of the corpus, and those that generated responses were split into."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import polars as pl

from gradelake.ingest.collections.responses import Response, passage_id
from gradelake.ingest.collections.targets import Targets, hash_of
from gradelake.ingest.collections.texts import read_passages
from gradelake.sql.common.counted import counted
from gradelake.sql.common.hashes import text_sha256
from gradelake.sql.lake.rows import frame_of
from gradelake.sql.lake.staged import Staged

BATCH = 10_000  # passages held at a time
# The passages that count for a query (the pool), over the tables of this transaction.
# dbt derives the pool that marts use; this is its superset for looking up texts.
POOL = """
    select passage_id from lake.raw.judgments where collection = $collection
    union
    select unnest(max({'score': score::float, 'passage_id': passage_id}, $depth)).passage_id
    from lake.raw.run_entries where collection = $collection
    group by system, query_id
"""
WITHOUT_TEXT = """
    anti join (select passage_id from lake.raw.passages where collection = $collection)
    using (passage_id)
"""


def add_generated(into: Targets, found: list[Response]) -> None:
    """Add the passages of responses, and responses that are more than one passage as a whole, that
    the lake does not have yet."""
    rows: dict[str, tuple[str, str, int | None, str]] = {}
    for response in (each for each in found if each.text):
        answer_id = passage_id(response.text)
        rows.setdefault(answer_id, (answer_id, response.text, None, "answer"))
        for position, (own_id, text) in enumerate(response.passages(), start=1):
            rows[own_id] = (own_id, text, position, "response")
    add_texts(into, rows)


def add_texts(into: Targets, rows: dict[str, Any]) -> int:
    """Insert those of these passages (id, text, position, origin), by id, that the lake has not.
    Returns how many."""
    for (own_id,) in into.transaction.lake.rows(
        "select passage_id from lake.raw.passages "
        "where collection = ? and passage_id in (select unnest(?))",
        into.name,
        list(rows),
    ):
        del rows[own_id]
    columns = ("passage_id", "text", "position", "origin")
    frame = frame_of("passages", columns, rows.values())
    return into.insert("passages", _hashed(frame))


def add_corpus(into: Targets, of_hits: dict[str, str]) -> None:
    """Bring in the corpus's passages: all of them, or those of the pool; and of the texts that
    search engines sent, by passage, those that the corpus lacks."""
    try:
        if into.dataset.has_docs():
            _of_dataset(into)
    finally:  # engines' answers that came in are not read again
        if of_hits:
            found = {own: (own, text, None, "corpus") for own, text in of_hits.items()}
            into.count("passages", add_texts(into, found))
    if not into.dataset.has_docs() or not into.transaction.dirty:
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


def _of_dataset(into: Targets) -> None:
    hashes = [into.file_hash(shown) for shown in into.collection.passages]
    sha256 = hash_of(hashes) if hashes[1:] else hashes[0] if hashes else into.dataset_id
    bring_in = _pooled if into.collection.passages_for == "pool" else _all
    bring_in(into, sha256)


def _all(into: Targets, sha256: str) -> None:
    target = into.target("passages")
    if not into.changed(target, sha256):
        return
    found = into.from_dataset("passages", lambda: into.dataset.docs_iter())
    n_rows = _replace(into, found)
    into.written("passages", target, sha256, n_rows)


def _pooled(into: Targets, sha256: str) -> None:
    """Look up only what systems ranked high, or assessors judged, and the lake has not.

    From another file or dataset than last time, all of them are looked up anew.
    """
    target = into.target("pooled_passages")
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


def _replace(into: Targets, found: Iterator[Any]) -> int:
    """Insert passages, replacing those with the same id. Others in the lake stay."""
    shown = ", ".join(into.collection.passages) or into.dataset_id
    for file in into.collection.passages:
        into.at_work.check(file, partial(read_passages, into.collection.path(file), file))
    staged = into.staged("passages", "origin")
    with into.at_work.reading(shown):
        n_blank = _stage(into, staged, found, shown)
    # files may name a passage on many rows
    into.require_no_repeats(staged, shown, differ_in="text_sha256")
    staged.keep_first("passage_id")
    if n_blank:
        into.outcome.warnings.append(
            f"{counted(n_blank, 'passages', 'have')} an empty text; left out"
        )
    if not staged.n_rows:
        return 0
    into.transaction.run(
        "delete from {lake}.raw.passages where collection = ? "
        f"and passage_id in (select passage_id from {staged.view})",
        into.name,
    )
    return into.transaction.insert_from(
        "passages", f"select * exclude (line, arrival) from {staged.view}"
    )


def _stage(into: Targets, staged: Staged, found: Iterator[Any], shown: str) -> int:
    """Add passages to others. Returns how many are blank, and left out."""
    n_blank, line = 0, 1
    while docs := list(islice(found, BATCH)):
        texts = ((doc.doc_id, doc.default_text()) for doc in docs)
        frame = frame_of("passages", ("passage_id", "text"), texts)
        frame = frame.with_row_index("line", offset=line)
        line += frame.height
        frame = frame.unique(["passage_id", "text"], keep="first", maintain_order=True)
        blank = frame["text"].fill_null("").str.strip_chars() == ""
        n_blank += int(blank.sum())
        rows = _hashed(frame.filter(~blank)).with_columns(pl.col("line").cast(pl.Int64))
        into.stage(staged, rows, shown, origin="corpus")
    return n_blank


def _hashed(passages: pl.DataFrame) -> pl.DataFrame:
    hashes = [text_sha256(text) for text in passages["text"]]
    return passages.with_columns(pl.Series("text_sha256", hashes, dtype=pl.String))
