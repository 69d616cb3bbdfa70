"""`gradelake ingest`: everything of one collection that is new or changed, in one transaction.

Unchanged inputs are skipped, changed ones replaced, faulty ones reported and left as the lake has
them. Either the whole command lands, or nothing of it.
"""

import os
import time
import unicodedata
from collections.abc import Callable

import polars as pl

from gradelake.ingest.collections import datasets, groups, passages, texts, trec
from gradelake.ingest.collections import inbox as inboxes
from gradelake.ingest.collections.collection import NO_TOPICS, Collection
from gradelake.ingest.collections.systems import Systems
from gradelake.ingest.collections.targets import Ingested, Targets, hash_of
from gradelake.ingest.mapping.columns import read_clicks, read_judgments
from gradelake.ingest.reading.rows import is_table
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.noting import listening
from gradelake.sql.common.problems import Problems, reject
from gradelake.sql.common.project import Project, is_name
from gradelake.sql.common.quoting import toml_value
from gradelake.sql.lake.judged import imported_mark
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import frame_of


def ingest(lake: Lake, collection: Collection, arguments: list[str]) -> Ingested:
    """Bring a collection's new and changed inputs into the lake.

    Raises `BadInput` for unusable settings; unusable files are in the outcome's `rejected`. What
    has arrived in the collection's inbox is read with the rest, and put away once it was committed.
    """
    outcome = Ingested(collection.name, inbox=inboxes.look(collection))
    collection, strange = inboxes.with_arrivals(collection, outcome.inbox)
    outcome.rejected.extend(strange)
    with lake.transaction("ingest", collection.name) as transaction:
        into = Targets(transaction, collection, outcome)
        try:
            with listening() as heard:
                _bring_in(into)
        finally:
            into.at_work.end()
        outcome.warnings.extend(heard)
        transaction.say(**outcome.counts)
        if transaction.dirty:
            transaction.finish_run(arguments)
    if transaction.dirty:
        outcome.snapshot = lake.newest_snapshot()
    inboxes.put_away(outcome.inbox, outcome.rejected)
    return outcome


def ingest_collection(project: Project, name: str, arguments: list[str]) -> Ingested:
    """`ingest` for a collection by its name in gradelake.toml, into a lake that is made if needed.

    `arguments` are kept in `raw.pipeline_runs`. Raises `BadInput` as `ingest` does, and for a
    collection that gradelake.toml does not have.
    """
    started = time.monotonic()
    settings = Collection.named(project, name)
    with Lake.create(project) as lake:
        outcome = ingest(lake, settings, arguments)
    outcome.seconds = time.monotonic() - started
    return outcome


def _bring_in(into: Targets) -> None:
    """The steps of one ingest, in an order in which each can check what it names."""
    into.guarded(_queries, into)
    into.query_ids = into.known("queries", "query_id")
    if not into.query_ids:
        return  # nothing else can be checked without topics; why is in `rejected`
    raters: set[str] = set()  # that tables of judgments name
    for assessor, source in _judgment_sources(into).items():
        into.guarded(_judgments, into, assessor, source, raters)
    into.guarded(_of_one_file, into, "clicks", _clicks)
    into.guarded(_of_one_file, into, "near_duplicates", _near_duplicates)
    systems = Systems(into)
    systems.runs()
    systems.responses()
    into.outcome.inbox.was_read = True
    for leaderboard, shown in into.collection.official_ranks.items():
        into.guarded(_official_ranks, into, leaderboard, shown)
    into.guarded(groups.write, into)
    into.guarded(passages.add_corpus, into, systems.texts)
    if into.collection.is_whole or not into.known("collections", "collection"):
        collection_row(into)
    if into.collection.is_whole:
        _warn_of_what_is_kept(into, systems, raters)


def collection_row(into: Targets) -> None:
    """Settings that marts need; kept up to date with `gradelake.toml`."""
    judged = into.transaction.lake.value(
        "select max(relevance) from lake.raw.judgments where collection = ?", into.name
    )
    settings = into.collection
    row = {
        "collection": into.name,
        "source": settings.ir_dataset or "files",
        "min_relevant": settings.min_relevant,
        "max_relevance": settings.max_relevance or judged or settings.min_relevant,
        "default_pool_depth": settings.default_pool_depth,
        "leave_out_near_duplicates": settings.leave_out_near_duplicates,
    }
    target, sha256 = into.target("collection"), hash_of(row)
    if into.changed(target, sha256):
        into.transaction.delete("collections", collection=into.name)
        into.transaction.insert("collections", [row], ingested_at=utc_now())
        into.transaction.record(target, sha256, 1)
        if not into.outcome.counts:
            into.count("settings", 1)
    else:
        into.outcome.unchanged -= 1  # not an input of its own


def _queries(into: Targets) -> None:
    if not into.collection.names_topics:
        if not into.known("queries", "query_id"):  # those of logs stay as they are
            raise reject(into.name, None, "has no topics", NO_TOPICS)
        return
    if not into.dataset.has_queries():
        raise reject(into.dataset_id, None, "has no topics", 'Set queries = "topics.tsv".')
    if into.collection.queries:
        into.file_hash(into.collection.queries)  # it says where it looked
    found = into.from_dataset("topics", lambda: into.dataset.queries_iter())
    queries = [datasets.query_text(query) for query in found]
    into.query_ids = {query.query_id for query in queries}
    counting = _query_weights(into, queries)  # topics without the weights that belong to them: no
    target, sha256 = into.target("queries"), hash_of([query[:5] for query in queries])
    if into.changed(target, sha256):
        _replace_queries(into, queries, target, sha256)
    target, sha256 = into.target("query_weights"), hash_of(counting.rows())
    was_there = into.collection.is_whole and into.transaction.recorded(target)
    is_known = counting.height or was_there
    if is_known and into.changed(target, sha256):
        shown = into.collection.query_weights or into.collection.queries or into.dataset_id
        into.replace("query_weights", counting, shown, target, sha256)


def _query_weights(into: Targets, queries: list[texts.Query]) -> pl.DataFrame:
    """How queries count, of those of which anything is said: a column of the file of its own takes
    the place of what the topics say. Raises `Rejected` where only some have a weight."""
    own = {query.query_id: query for query in queries}
    shown = into.collection.queries or into.dataset_id
    if file := into.collection.query_weights:
        shown = file
        into.file_hash(file)  # it says where it looked
        stated, found = into.read(texts.read_query_weights, file)
        ids = {query.text: query.query_id for query in queries} | {name: name for name in own}
        found = [(n, q._replace(query_id=ids.get(q.query_id, q.query_id))) for n, q in found]
        frame = pl.DataFrame({"line": [n for n, _ in found], "query_id": [q[0] for _, q in found]})
        into.require_some(into.of_known_queries(frame, file).height, file)
        given = {query.query_id: query for _, query in found}
        for query_id, query in own.items():
            theirs = given.get(query_id, texts.Query(query_id, ""))
            own[query_id] = query._replace(**{name: getattr(theirs, name) for name in stated})
    weights = [query.weight for query in own.values() if query.weight is not None]
    problems = Problems(shown, "Give every query a weight; one of 0 is in no mean.")
    if weights and len(weights) < len(own):
        for query in own.values():
            if query.weight is None:
                problems.add(None, f"query {query.query_id!r} has no weight, and others have one")
    if weights and not any(weights):
        problems.add(None, "every weight is 0")
    problems.raise_if_any()
    rows = [(query.query_id, *query[5:7], [*query.segments] or None) for query in own.values()]
    columns = ("query_id", *texts.COUNTING)
    return frame_of(
        "query_weights", columns, (row for row in rows if row[1:] != (None, None, None))
    )


def _replace_queries(into: Targets, queries: list[texts.Query], target: str, sha256: str) -> None:
    _refuse_if_queries_in_use(into, {query.query_id for query in queries})
    shown = into.collection.queries or into.dataset_id
    columns = ("query_id", "text", "description", "narrative")
    frame = frame_of("queries", columns, (query[:4] for query in queries))
    subtopics = ((query.query_id, *facet) for query in queries for facet in query.facets)
    facets = frame_of("facets", ("query_id", "facet_id", "text"), subtopics)
    facets = into.checked("facets", facets, shown)
    into.replace("queries", frame, shown, target, sha256)
    into.transaction.delete("facets", collection=into.name)
    into.count("facets", into.transaction.insert_checked("facets", facets))


def _refuse_if_queries_in_use(into: Targets, kept: set[str]) -> None:
    """Topics that something in the lake still names cannot go."""
    problems = Problems(
        into.collection.queries or into.dataset_id,
        "Keep these topics; to start over, use another collection name.",
    )
    for query_id in sorted(into.known("queries", "query_id") - kept):
        for table in ("judgments", "review_samples", "run_entries", "grades", "rubric_items"):
            n = into.transaction.lake.value(
                f"select count(*) from lake.raw.{table} where collection = ? and query_id = ?",
                into.name,
                query_id,
            )
            if n:
                holders = counted(n, table.replace("_", " "), "name")
                problems.add(None, f"query {query_id!r} is gone, but {holders} it")
    problems.raise_if_any()


def _judgment_sources(into: Targets) -> dict[str, str | None]:
    """assessor -> file; None means the qrels of the ir_datasets dataset."""
    sources: dict[str, str | None] = dict(into.collection.judgments)
    if into.collection.ir_dataset and into.dataset.has_qrels():
        sources.setdefault(into.collection.assessor, None)
    return sources


def _judgments(into: Targets, assessor: str, file: str | None, raters: set[str]) -> None:
    """Judgments of the assessor, or of each rater that a column of a table names."""
    shown = file or into.dataset_id
    named: dict[str, pl.DataFrame | None] = {assessor: None}  # None: read where it is new
    if file is None:
        found = into.from_dataset("qrels", lambda: into.dataset.qrels_iter())
        rows = ((q.query_id, q.doc_id, int(q.relevance)) for q in found)
        frame = frame_of("judgments", ("query_id", "passage_id", "relevance"), rows)
        frame = frame.with_row_index("line", offset=1)
        named, sha256 = {assessor: frame}, hash_of(frame.rows())
    else:
        sha256 = into.file_hash(file)
        if is_table(into.collection.path(file), file, "judgments"):
            frame = into.read(read_judgments, file).drop_nulls("relevance")
            raters_name = pl.col("rater").str.replace_all(r"\s+", "_").fill_null(assessor)
            named_so = raters_name.map_elements(_plain_letters, return_dtype=pl.String)
            parts = frame.with_columns(named_so).partition_by("rater")
            named = {part["rater"][0]: part.drop("rater") for part in parts}
    for rater in named:
        if not is_name(rater):
            fix = "A rater's name holds letters, digits and . _ + = @ -, a letter or digit first."
            raise reject(shown, None, f"{rater!r} cannot be used as an assessor's name", fix)
    raters.update(named)
    for rater, judged in named.items():
        if into.changed(_judgments_target(into, rater, shown), sha256):
            judged = into.read(trec.read_qrels, shown) if judged is None else judged
            _put_judgments(into, rater, judged, shown, sha256)


def _plain_letters(name: str) -> str:
    """A rater's name that can be one, without the marks on its letters where these are in the way:
    Müller is Muller."""
    if is_name(name):
        return name
    letters = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    return "".join(each for each in letters if not unicodedata.combining(each))


def _judgments_target(into: Targets, assessor: str, shown: str) -> str:
    """The target of an assessor's judgments. Raises `Rejected` where they are a person's own."""
    target = into.target(f"judgments/{assessor}")
    by_people = into.transaction.recorded(imported_mark(into.name, assessor))
    if by_people and by_people == into.transaction.recorded(target):
        raise reject(
            shown,
            None,
            f"assessor {assessor!r} has judgments from `gradelake import judgments`",
            "Choose another name in gradelake.toml; a person's judgments are never replaced.",
        )
    return target


def _put_judgments(
    into: Targets, assessor: str, frame: pl.DataFrame, shown: str, sha256: str
) -> None:
    target = into.target(f"judgments/{assessor}")
    frame, repeated = trec.once_per_pair(into.of_known_queries(frame, shown), shown)
    into.require_some(frame.height, shown)
    if repeated:
        into.outcome.warnings.append(f"{shown}: {counted(repeated, 'repeated lines')}, kept once")
    is_first = into.transaction.recorded(target) is None
    into.replace("judgments", frame, shown, target, sha256, assessor=assessor)
    if is_first and into.collection.assessor_is_unnamed and assessor == "official":
        into.outcome.warnings.append(
            "the judgments are known as assessor:official; name them in gradelake.toml: "
            f"judgments = {{ NAME = {toml_value(shown)} }}"
        )


def _of_one_file(
    into: Targets, table: str, rows_of: Callable[[Targets, str], pl.DataFrame]
) -> None:
    """The rows of a table that comes from the one file of the setting called so."""
    shown, target = getattr(into.collection, table), into.target(table)
    if shown:
        sha256 = into.file_hash(shown)
        if into.changed(target, sha256):
            into.replace(table, rows_of(into, shown), shown, target, sha256)
    elif into.transaction.recorded(target) and into.collection.is_whole:
        # the setting was taken out: the rows go with it
        into.transaction.delete(table, collection=into.name)
        into.transaction.forget(target)
        into.count("settings", 1)


def _clicks(into: Targets, shown: str) -> pl.DataFrame:
    frame = into.of_known_queries(into.read(read_clicks, shown), shown)
    into.require_some(frame.height, shown)
    key = ("query_id", "passage_id", "position", "day")
    return frame.group_by(*key).agg(pl.col("n_impressions", "n_clicks").sum()).sort(*key)


def _near_duplicates(into: Targets, shown: str) -> pl.DataFrame:
    pairs = into.read(texts.read_near_duplicates, shown)
    return frame_of("near_duplicates", ("passage_id", "canonical_passage_id"), pairs)


def _warn_of_what_is_kept(into: Targets, systems: Systems, raters: set[str]) -> None:
    """Say which inputs the settings no longer name; what is in the lake stays."""
    kept = []
    imported = {
        assessor
        for assessor in into.known("judgments", "assessor")
        if into.transaction.recorded(imported_mark(into.name, assessor))
    }
    refused = dict.fromkeys(rejected.file for rejected in into.outcome.rejected)
    if not refused.keys().isdisjoint(into.collection.judgments.values()):
        raters |= into.known("judgments", "assessor")  # whose they are is not known
    brought = systems.claimed.keys() | systems.of_refused | _systems_of_the_inbox(into)
    for table, column, named in (
        ("judgments", "assessor", imported | raters | set(_judgment_sources(into))),
        ("official_ranks", "leaderboard", set(into.collection.official_ranks)),
        ("systems", "system", brought),
    ):
        if names := sorted(into.known(table, column) - named):
            kept.append(f"{table.replace('_', ' ')} {', '.join(names[:5])}")
            kept[-1] += f" and {len(names) - 5} more" if len(names) > 5 else ""
    if kept:
        into.outcome.warnings.append(
            f"kept in the lake, though nothing in gradelake.toml names them: {'; '.join(kept)}"
        )
    into.outcome.warnings.extend(
        f"{shown}: what an earlier ingest brought of it stays in the lake as it was"
        for shown in refused
        if _holds(into, shown)
    )


def _holds(into: Targets, shown: str) -> bool:
    """Whether the lake has what an earlier ingest brought of a file."""
    setting = into.collection.setting_of(shown)
    if setting is None:
        return shown in into.known("systems", "source_file")
    kind, _, name = setting.partition(".")
    if kind == "judgments" and into.transaction.recorded(imported_mark(into.name, name)):
        return False
    return into.transaction.recorded(into.target(setting.replace(".", "/", 1))) is not None


def _systems_of_the_inbox(into: Targets) -> set[str]:
    """Systems whose files came through the inbox, where no setting names them any more."""
    if into.collection.inbox is None:
        return set()
    found = into.transaction.lake.column(
        "select system from lake.raw.systems where collection = ? and starts_with(source_file, ?)",
        into.name,
        os.path.join(into.collection.inbox, ""),
    )
    return set(found)


def _official_ranks(into: Targets, leaderboard: str, shown: str) -> None:
    target = into.target(f"official_ranks/{leaderboard}")
    sha256 = into.file_hash(shown)
    if not into.changed(target, sha256):
        return
    ranks = into.read(texts.read_official_ranks, shown)
    frame = frame_of("official_ranks", ("system", "rank", "score"), ranks)
    into.replace("official_ranks", frame, shown, target, sha256, leaderboard=leaderboard)
