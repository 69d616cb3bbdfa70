"""`gradelake export grades`: a collection's grades as the workbench's graded JSONL."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from gradelake.grading.exchange.as_it_came import (
    ENTRIES,
    Row,
    as_json,
    judgments_of,
    rankings_of,
    together,
)
from gradelake.grading.exchange.workbench import OF_ITEM
from gradelake.grading.exchange.workbench_write import GraderEntry, Grades, PassageParts, paragraph
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.opening import Lake

_AT_ONCE = 1_000_000  # grades and run entries that are read at once, of queries in a row, which are
# found without going through the rest of a table
BLOCKS = """
    with found as (
        select query_id from lake.raw.grades where collection = $collection
        union all
        select query_id from lake.raw.run_entries where collection = $collection
    ),
    sizes as (
        select query_id, count(*) as n from found group by query_id
    ),
    -- where a query's first line stood in a file; those of several files stand side by side
    lines as (
        select query_id, min(place) as line
        from lake.raw.brought_along
        where collection = $collection and starts_with(target, $source)
        group by query_id
    ),
    counted as (
        select
            query_id,
            line,
            sum(coalesce(n, 0)) over (order by line nulls last, query_id) // $at_once as block
        from lake.raw.queries
        left join sizes using (query_id)
        left join lines using (query_id)
        where collection = $collection
    )
    select list(query_id order by line nulls last, query_id)
    from counted
    group by block
    order by block
"""
_OF_BLOCK = (
    "collection = $collection and query_id between $first and $last "
    "and query_id in (select unnest($queries))"
)
# ranked as trec_eval does; rankings that came from a graded file have gaps, and keep the ranks they
# had. They are many: here is their JSON, for `rankings_of` to put in order. What all have is beside
RANKINGS = f"""
    with of_systems as (
        select
            system,
            '{{"method": ' || to_json(system) || chr(1) as method,
            ledger.target is not null as is_of_file
        from lake.raw.systems
        left join lake.raw.ledger
            on ledger.target = systems.collection || '/grades/' || systems.source_file
        where collection = $collection
    ),
    ranked as (
        select
            *,
            row_number() over (
                partition by query_id, system order by score::float desc, passage_id desc
            ) as place
        from lake.raw.run_entries
        where {_OF_BLOCK}
    ),
    placed as (
        select
            * exclude (rank),
            coalesce(if(is_of_file, ranked.rank, null), place) as rank
        from ranked
        inner join of_systems using (system)
    )
    select
        query_id,
        passage_id,
        count(*) as n,
        list(system) filter (is_of_file) as methods_of_files,
        ', "paragraphId": ' || to_json(passage_id) || ', "queryId": ' || to_json(query_id)
        || ', "rank": ' as in_all,
        string_agg(
            concat(method, rank, ', "score": ', score, '}}'), chr(2)
        ) as places
    from placed
    where $depth is null or rank <= $depth
    group by query_id, passage_id
"""
JUDGMENTS = f"""
    select
        passage_id as "paragraphId",
        query_id as query,
        relevance,
        queries.text as "titleQuery",
        assessor
    from lake.raw.judgments
    inner join lake.raw.queries using (collection, query_id)
    where {_OF_BLOCK}
    order by passage_id, assessor
"""
# columns, and their JSON; a time as Python writes it
_JSON_OF = {column: f"to_json({column})" for column in OF_ITEM} | {
    "graded_at": """'"' || if(
        epoch_us(graded_at) % 1000000 = 0,
        strftime(graded_at, '%Y-%m-%dT%H:%M:%S'),
        strftime(graded_at, '%Y-%m-%dT%H:%M:%S.%f')
    ) || '"'"""
}
_KEYS = ", ".join(f"""'"{column}": ' || {text}""" for column, text in _JSON_OF.items())
_GRADES = f"""
    from lake.raw.grades
    where {_OF_BLOCK} and grader_id in (select unnest($graders))
"""
# items in the order of the first bank that has them
PLACES = f"""
    select query_id, item_id, cast(arg_min(place, (bank, place)) as integer) as place
    from lake.raw.rubric_items
    where {_OF_BLOCK}
    group by query_id, item_id
"""
_ENTRY = ["passage_id", "grader_id"]
GRADES = f"""
    select
        query_id, {", ".join([*_ENTRY, *Grades._fields[:-2]])}, hash(run_id) as run,
        epoch_us(graded_at) as since
    {_GRADES}  -- sorted later, which is cheaper
"""
# `whole` is the JSON of the grade, for a `gradelake` object: made here in a fifth of Python's time
WHOLES = f"""
    select query_id, {", ".join(_ENTRY)}, '{{' || concat_ws(', ', {_KEYS}) || '}}' as whole
    {_GRADES}
    order by passage_id, grader_id, item_id, graded_at
"""
BROUGHT_ALONG = f"""
    select query_id, part, content, place, hash(ledger.run_id) as run
    from lake.raw.brought_along
    inner join lake.raw.ledger using (target)
    where {_OF_BLOCK} and starts_with(target, $source)
    order by part, target
"""
ASSESSORS = "select count(distinct assessor) from lake.raw.judgments where collection = ?"
TEXTS = """
    select passage_id, text from lake.raw.passages
    semi join named using (passage_id)
    where collection = $collection
"""


def export_grades(
    lake: Lake, collection: str, output: Path, names: Collection[str] = (), depth: int | None = None
) -> dict[str, int]:
    """Write every passage that was graded, judged or ranked for a query, with its grades; returns
    what was written, and with a `depth`, below which rankings are cut, how much of them was not.

    `names` are graders by name or id; none: all. The file appears whole or not at all, zipped when
    its name ends in .gz. Raises `BadInput` for an unknown
    collection or grader, when there are no grades, and when the file cannot be written.
    """
    with lake.one_state():
        lake.require_collection(collection)
        graders = _graders(lake, collection, names)
        source = f"{collection}/grades/"
        about = {"collection": collection, "source": source, "at_once": _AT_ONCE}
        blocks = lake.column(BLOCKS, **about)
        n_queries = sum(map(len, blocks))
        counts: Counter[str] = Counter(graders=len(graders))
        found = (
            each for block in blocks for each in _rows(lake, collection, block, depth, graders)
        )
        with whole_file(output) as stream:
            for rows in console.progress("writing queries", found, n_queries):
                passages = list(_paragraphs(rows, depth, graders, counts))
                if passages:
                    line = f"[{as_json(rows.query_id)}, [{', '.join(passages)}]]\n"
                    stream.write(line.encode())
                    counts["queries"] += 1
                    counts["passages"] += len(passages)
        if depth is not None:
            every = "select count(*) from lake.raw.run_entries where collection = ?"
            counts["rankings_left_out"] = lake.value(every, collection) - counts["rankings"]
    return dict(counts)


def _graders(lake: Lake, collection: str, names: Collection[str]) -> dict[str, GraderEntry]:
    rows = lake.frame(
        "select * from lake.raw.graders "
        "where grader_id in (select distinct grader_id from lake.raw.grades where collection = ?)",
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


class _Rows(NamedTuple):
    """All that is written of a query, by passage."""

    query_id: str
    grades: dict[str, dict[str, Grades]]  # by grader, in order of their items
    wholes: Callable[[str, str], str]  # by passage and grader
    judgments: dict[str, list[Row]]
    rankings: dict[str, Row]
    brought: dict[str, list[Row]]
    texts: dict[str, str]
    are_one_assessors: bool  # all judgments of the collection


def _rows(
    lake: Lake, collection: str, queries: list[str], depth: int | None, graders: dict[str, Any]
) -> Iterator[_Rows]:
    """What is written of these queries, which is read at once."""
    asked: dict[str, Any] = {"collection": collection, "queries": queries}
    asked |= {"first": min(queries), "last": max(queries)}

    named: list[pl.Series] = []

    def read(query: str, by: str, of_passage: str, **values: Any) -> dict[Any, pl.DataFrame]:
        frame = lake.frame(query, **asked, **values)
        named.append(frame[of_passage].alias("passage_id"))
        return frame.partition_by(by, as_dict=True)

    places = lake.frame(PLACES, **asked)
    are_one_assessors = lake.value(ASSESSORS, collection) == 1
    grades = read(GRADES, "query_id", "passage_id", graders=list(graders))
    judgments = read(JUDGMENTS, "query", "paragraphId")
    rankings = read(RANKINGS, "query_id", "passage_id", depth=depth)
    brought = read(BROUGHT_ALONG, "query_id", "part", source=f"{collection}/grades/")
    with lake.registered("named", pl.concat(named).unique().to_frame()):
        texts = dict(lake.rows(TEXTS, collection=collection))

    @cache  # read for the whole block, where an entry needs one
    def wholes() -> dict[Any, pl.DataFrame]:
        found = lake.frame(WHOLES, **asked, graders=list(graders))
        return found.partition_by("query_id", as_dict=True, include_key=False)

    @lru_cache(maxsize=1)
    def wholes_of(query_id: str) -> dict[tuple[str, ...], str]:
        of_entries = wholes()[query_id,].group_by(_ENTRY).agg(pl.col("whole").str.join(", "))
        return {tuple(key): text for *key, text in of_entries.rows()}

    def whole(query_id: str, *key: str) -> str:
        return wholes_of(query_id)[key]

    for query_id in queries:
        yield _Rows(
            query_id,
            _by_grader(grades.get((query_id,)), places),
            partial(whole, query_id),
            _by("paragraphId", judgments.get((query_id,))),
            {i: row for i, (row,) in _by("passage_id", rankings.get((query_id,))).items()},
            _by("part", brought.get((query_id,))),
            texts,
            are_one_assessors,
        )


def _paragraphs(
    rows: _Rows, depth: int | None, graders: dict[str, GraderEntry], counts: Counter
) -> Iterator[str]:
    """JSON of a query's paragraphs: those of files in their order, then the others."""
    place_of = {i: min(row["place"] or 0 for row in entries) for i, entries in rows.brought.items()}
    of_files = {i: together(map(_kept, entries)) for i, entries in rows.brought.items()}
    empty = (i for i, kept in of_files.items() if not any(kept[key] for key in ENTRIES))
    there = {*rows.grades, *rows.judgments, *rows.rankings, *empty}
    for passage_id in sorted(there, key=lambda i: (i not in place_of, place_of.get(i, 0), i)):
        kept = of_files.get(passage_id, {})
        rankings, n_rankings = rankings_of(rows.rankings.get(passage_id), kept, depth)
        found = PassageParts(
            passage_id,
            rows.texts.get(passage_id, ""),
            judgments_of(rows.judgments.get(passage_id, []), kept, rows.are_one_assessors),
            rankings,
            n_rankings,
            rows.grades.get(passage_id, {}),
            partial(rows.wholes, passage_id),
            kept,
        )
        counts["passages_without_text"] += passage_id not in rows.texts
        counts["grades"] += sum(len(each.item_id) for each in found.grades.values())
        counts["judgments"] += len(found.judgments)
        counts["rankings"] += found.n_rankings
        yield paragraph(found, graders)


def _kept(row: Row) -> Row:
    """What a file has of a paragraph, its entries with the run that brought them."""
    content = json.loads(row["content"])
    entries = {key: [[*each, row["run"]] for each in content.get(key, [])] for key in ENTRIES}
    return content | entries


def _by_grader(grades: pl.DataFrame | None, places: pl.DataFrame) -> dict[str, dict[str, Grades]]:
    """Grades by passage and grader, items in the order of their rubric."""
    found: dict[str, dict[str, Grades]] = {}
    if grades is not None:
        placed = grades.join(places, on=["query_id", "item_id"], how="left")
        in_order = placed.sort(*_ENTRY, "place", "item_id", "since", nulls_last=True)
        lists = in_order.group_by(_ENTRY, maintain_order=True).agg(Grades._fields)
        in_columns = (column.to_list() for column in lists.iter_columns())
        for passage_id, grader_id, *columns in zip(*in_columns, strict=True):
            found.setdefault(passage_id, {})[grader_id] = Grades._make(columns)
    return found


def _by(key: str, frame: pl.DataFrame | None) -> dict[str, list[Row]]:
    return {} if frame is None else frame.rows_by_key(key, named=True, include_key=True)
