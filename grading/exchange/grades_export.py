"""`gradelake export grades`: a collection's grades as the workbench's graded JSONL."""

import json
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from gradelake.grading.exchange.beside_rows import judgments_of, rankings_of, together
from gradelake.grading.exchange.workbench_write import GraderEntry, paragraph
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.opening import Lake

# ranked as trec_eval does; rankings that came from a graded file have gaps, and keep the ranks they
# had
RANKINGS = """
    with ranked as (
        select
            *,
            row_number() over (
                partition by system order by score::float desc, passage_id desc
            ) as place
        from lake.raw.run_entries
        where collection = $collection and query_id = $query_id
    )
    select
        system as method,
        passage_id as "paragraphId",
        query_id as "queryId",
        coalesce(if(ledger.target is null, null, ranked.rank), place) as rank,
        score,
        ledger.target is not null as is_of_file
    from ranked
    inner join lake.raw.systems using (collection, system)
    left join lake.raw.ledger
        on ledger.target = ranked.collection || '/grades/' || systems.source_file
    where $depth is null or coalesce(if(is_of_file, ranked.rank, null), place) <= $depth
    order by passage_id, system
"""
JUDGMENTS = """
    select
        passage_id as "paragraphId",
        query_id as query,
        relevance,
        queries.text as "titleQuery",
        assessor
    from lake.raw.judgments
    inner join lake.raw.queries using (collection, query_id)
    where collection = $collection and query_id = $query_id
    order by passage_id, assessor
"""
GRADES = """
    select * from lake.raw.grades
    where
        collection = $collection
        and query_id = $query_id
        and grader_id in (select unnest($graders))
    order by passage_id, grader_id, item_id, graded_at
"""
BROUGHT_ALONG = """
    select part, content from lake.raw.brought_along
    where collection = $collection and query_id = $query_id and starts_with(target, $source)
    order by part, target
"""
TEXTS = """
    select passage_id, text from lake.raw.passages
    where collection = $collection and passage_id in (select unnest($passages))
"""


def export_grades(
    lake: Lake, collection: str, output: Path, names: Collection[str] = (), depth: int | None = None
) -> dict[str, int]:
    """Write every passage that was graded, judged or ranked for a query, with its grades; returns
    what was written, and with a `depth`, below which rankings are cut, how much of them was not.

    `names` are graders by name or id; none: all. The file appears whole or not at all, zipped when
    its name ends in .gz; no more than one query is held. Raises `BadInput` for an unknown
    collection or grader, when there are no grades, and when the file cannot be written.
    """
    with lake.one_state():
        lake.require_collection(collection)
        graders = _graders(lake, collection, names)
        queries = lake.rows(
            "select query_id from lake.raw.queries where collection = ? order by query_id",
            collection,
        )
        counts: Counter[str] = Counter(graders=len(graders))
        with whole_file(output) as stream:
            for (query_id,) in console.progress("writing queries", queries, len(queries)):
                of_query = {"collection": collection, "query_id": query_id}
                passages = list(_paragraphs(lake, of_query, depth, graders, counts))
                if passages:
                    line = json.dumps([query_id, passages], ensure_ascii=False)
                    stream.write(line.encode() + b"\n")
                    counts["queries"] += 1
                    counts["passages"] += len(passages)
        if depth is not None:
            every = "select count(*) from lake.raw.run_entries where collection = ?"
            counts["rankings_left_out"] = lake.value(every, collection) - counts["rankings"]
    return dict(counts)


def _graders(lake: Lake, collection: str, names: Collection[str]) -> dict[str, GraderEntry]:
    rows = lake.frame(
        "select * from lake.raw.graders "
        "where grader_id in (select grader_id from lake.raw.grades where collection = ?)",
        collection,
    ).to_dicts()
    if not rows:
        raise BadInput(
            f"collection {collection!r} has no grades here",
            "Grade it or import grades; then `gradelake build`, or read with --live.",
        )
    entries = {row["grader_id"]: GraderEntry(row) for row in rows}
    if not names:
        return entries
    wanted: dict[str, GraderEntry] = {}
    for name in names:
        found = {i: e for i, e in entries.items() if name in (i, e.grader["name"])}
        if not found:
            raise BadInput(
                f"no grader {name!r} graded {collection}",
                did_you_mean(name, {entry.grader["name"] for entry in entries.values()}),
            )
        wanted |= found
    # the labels that a file gave beside a grader's grades go with them
    keys = {entry.key for entry in wanted.values() if entry.is_plain}
    return wanted | {i: e for i, e in entries.items() if e.is_label and e.key in keys}


def _paragraphs(
    lake: Lake,
    of_query: dict[str, str],
    depth: int | None,
    graders: dict[str, GraderEntry],
    counts: Counter,
) -> Iterator[dict[str, Any]]:
    grades = _by("passage_id", lake.frame(GRADES, **of_query, graders=list(graders)).to_dicts())
    judgments = _by("paragraphId", lake.frame(JUDGMENTS, **of_query).to_dicts())
    rankings = _by("paragraphId", lake.frame(RANKINGS, **of_query, depth=depth).to_dicts())
    source = f"{of_query['collection']}/grades/"
    brought = _by("part", lake.frame(BROUGHT_ALONG, **of_query, source=source).to_dicts())
    ids = sorted({*grades, *judgments, *rankings})
    texts = dict(lake.rows(TEXTS, collection=of_query["collection"], passages=ids))
    for passage_id in ids:
        graded = grades.get(passage_id, [])
        beside = together(json.loads(row["content"]) for row in brought.get(passage_id, []))
        judged = judgments_of(judgments.get(passage_id, []), beside)
        ranked = rankings_of(rankings.get(passage_id, []), beside, depth)
        if passage_id not in texts:
            counts["passages_without_text"] += 1
        counts["grades"] += len(graded)
        counts["judgments"] += len(judged)
        counts["rankings"] += len(ranked)
        text = texts.get(passage_id, "")
        yield paragraph(passage_id, text, judged, ranked, graded, graders, beside)


def _by(key: str, rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Rows that are sorted by a key, by that key."""
    return {i: list(group) for i, group in groupby(rows, lambda row: row[key])}
