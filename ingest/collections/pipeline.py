"""`gradelake ingest`: everything of one collection that is new or changed, in one transaction.

Unchanged inputs are skipped, changed ones replaced, faulty ones reported and left as the lake has
them. Either the whole command lands, or nothing of it.
"""

import os
import time
from collections.abc import Callable
from typing import Any

import polars as pl

from gradelake.ingest.collections import datasets, groups, passages, texts, trec
from gradelake.ingest.collections import inbox as inboxes
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.judgments import imported_mark
from gradelake.ingest.collections.systems import Systems
from gradelake.ingest.collections.targets import Outcome, Targets, hash_of
from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import Problems, reject
from gradelake.sql.common.project import Project
from gradelake.sql.lake.contracts import types_of
from gradelake.sql.lake.lake import Lake
from gradelake.sql.lake.transaction import utc_now


def ingest(
    lake: Lake, collection: Collection, arguments: list[str], progress: Callable[..., Any]
) -> Outcome:
    """Bring a collection's new and changed inputs into the lake.

    `progress(what, iterable, total)` wraps loops that take long. Raises `BadInput` for unusable
    settings; unusable files are in the outcome's `rejected`. What has arrived in the collection's
    inbox is read with the rest, and put away once it was committed.
    """
    outcome = Outcome(collection.name, inbox=inboxes.look(collection))
    collection, strange = inboxes.with_arrivals(collection, outcome.inbox)
    outcome.rejected.extend(strange)
    with lake.transaction("ingest", collection.name) as transaction:
        _Ingest(Targets(transaction, collection, outcome), progress).run()
        transaction.say(**outcome.counts)
        if transaction.dirty:
            transaction.finish_run(arguments)
    if transaction.dirty:
        outcome.snapshot = lake.newest_snapshot()
    inboxes.put_away(outcome.inbox, outcome.rejected)
    return outcome


def ingest_collection(
    project: Project, name: str, arguments: list[str], progress: Callable[..., Any]
) -> Outcome:
    """`ingest` for a collection by its name in gradelake.toml, into a lake that is made if needed.

    `arguments` are kept in `raw.pipeline_runs`. Raises `BadInput` as `ingest` does, and for a
    collection that gradelake.toml does not have.
    """
    started = time.monotonic()
    settings = Collection.named(project, name)
    with Lake.create(project) as lake:
        outcome = ingest(lake, settings, arguments, progress)
    outcome.seconds = time.monotonic() - started
    return outcome


class _Ingest:
    """The steps of one ingest, in an order in which each can check what it names."""

    def __init__(self, into: Targets, progress: Callable[..., Any]):
        self.into = into
        self.progress = progress

    def run(self) -> None:
        into = self.into
        into.guarded(self._queries)
        into.query_ids = into.known("queries", "query_id")
        if not into.query_ids:
            return  # nothing else can be checked without topics; why is in `rejected`
        for assessor, source in self._judgment_sources().items():
            into.guarded(lambda: self._judgments(assessor, source))  # noqa: B023
        into.guarded(self._near_duplicates)
        systems = Systems(into, self.progress)
        systems.runs()
        systems.responses()
        into.outcome.inbox.was_read = True
        for leaderboard, shown in into.collection.official_ranks.items():
            into.guarded(lambda: self._official_ranks(leaderboard, shown))  # noqa: B023
        into.guarded(lambda: groups.write(into))
        into.guarded(lambda: passages.add_corpus(into))
        self._collection_row()
        self._warn_of_what_is_kept(systems)

    def _collection_row(self) -> None:
        """Settings that marts need; kept up to date with `gradelake.toml`."""
        judged = self.into.transaction.lake.value(
            "select max(relevance) from lake.raw.judgments where collection = ?", self.into.name
        )
        settings = self.into.collection
        row = {
            "collection": self.into.name,
            "source": settings.ir_dataset or "files",
            "min_relevant": settings.min_relevant,
            "max_relevance": settings.max_relevance or judged or settings.min_relevant,
            "default_pool_depth": settings.default_pool_depth,
            "leave_out_near_duplicates": settings.leave_out_near_duplicates,
        }
        target, sha256 = self.into.target("collection"), hash_of(row)
        if self.into.changed(target, sha256):
            self.into.transaction.delete("collections", collection=self.into.name)
            self.into.transaction.insert(
                "collections", pl.DataFrame([row | {"ingested_at": utc_now()}])
            )
            self.into.transaction.record(target, sha256, 1)
            if not self.into.outcome.counts:
                self.into.count("settings", 1)
        else:
            self.into.outcome.unchanged -= 1  # not an input of its own

    def _queries(self) -> None:
        if not self.into.dataset.has_queries():
            raise reject(self.into.dataset_id, None, "has no topics", 'Set queries = "topics.tsv".')
        if self.into.collection.queries:
            self.into.file_hash(self.into.collection.queries)  # it says where it looked
        found = self.into.from_dataset("topics", lambda: self.into.dataset.queries_iter())
        queries = [datasets.query_text(query) for query in found]
        target, sha256 = self.into.target("queries"), hash_of(queries)
        if not self.into.changed(target, sha256):
            return
        self._refuse_if_queries_in_use({query.query_id for query in queries})
        frame = pl.DataFrame(queries, schema=dict.fromkeys(texts.Query._fields, pl.String))
        self.into.replace(
            "queries", frame, self.into.collection.queries or self.into.dataset_id, target, sha256
        )

    def _refuse_if_queries_in_use(self, kept: set[str]) -> None:
        """Topics that something in the lake still names cannot go."""
        problems = Problems(
            self.into.collection.queries or self.into.dataset_id,
            "Keep these topics; to start over, use another collection name.",
        )
        for query_id in sorted(self.into.known("queries", "query_id") - kept):
            for table in ("judgments", "review_samples", "run_entries", "grades", "rubric_items"):
                n = self.into.transaction.lake.value(
                    f"select count(*) from lake.raw.{table} where collection = ? and query_id = ?",
                    self.into.name,
                    query_id,
                )
                if n:
                    holders = counted(n, table.replace("_", " "), "name")
                    problems.add(None, f"query {query_id!r} is gone, but {holders} it")
        problems.raise_if_any()

    def _judgment_sources(self) -> dict[str, str | None]:
        """assessor -> file; None means the qrels of the ir_datasets dataset."""
        sources: dict[str, str | None] = dict(self.into.collection.judgments)
        if self.into.collection.ir_dataset and self.into.dataset.has_qrels():
            sources.setdefault(self.into.collection.assessor, None)
        return sources

    def _judgments(self, assessor: str, shown: str | None) -> None:
        target = self.into.target(f"judgments/{assessor}")
        by_people = self.into.transaction.recorded(imported_mark(self.into.name, assessor))
        if by_people and by_people == self.into.transaction.recorded(target):
            raise reject(
                shown or self.into.dataset_id,
                None,
                f"assessor {assessor!r} has judgments from `gradelake import judgments`",
                "Choose another name in gradelake.toml; nobody's judgments are replaced.",
            )
        if shown is None:
            shown = self.into.dataset_id
            found = self.into.from_dataset("qrels", lambda: self.into.dataset.qrels_iter())
            frame = pl.DataFrame(
                [(q.query_id, q.doc_id, int(q.relevance)) for q in found],
                schema=types_of("judgments", "query_id", "passage_id", "relevance"),
                orient="row",
            ).with_row_index("line", offset=1)
            sha256 = hash_of(frame.rows())
            if not self.into.changed(target, sha256):
                return
            frame, repeated = trec.once_per_pair(frame, shown)
        else:
            sha256 = self.into.file_hash(shown)
            if not self.into.changed(target, sha256):
                return
            frame, repeated = trec.read_qrels(self.into.collection.path(shown), shown)
        trec.require_known_queries(frame, self.into.query_ids, shown)
        if repeated:
            self.into.outcome.warnings.append(
                f"{shown}: {counted(repeated, 'repeated lines')}, kept once"
            )
        is_first = self.into.transaction.recorded(target) is None
        self.into.replace("judgments", frame.drop("line"), shown, target, sha256, assessor=assessor)
        if is_first and self.into.collection.assessor_is_unnamed and assessor == "official":
            self.into.outcome.warnings.append(
                "the judgments are known as assessor:official; name them in gradelake.toml: "
                f'judgments = {{ NAME = "{shown}" }}'
            )

    def _near_duplicates(self) -> None:
        shown = self.into.collection.near_duplicates
        if not shown:
            self._no_near_duplicates()
            return
        target, sha256 = self.into.target("near_duplicates"), self.into.file_hash(shown)
        if not self.into.changed(target, sha256):
            return
        pairs = texts.read_near_duplicates(self.into.collection.path(shown), shown)
        frame = pl.DataFrame(pairs, schema=["passage_id", "canonical_passage_id"], orient="row")
        self.into.replace("near_duplicates", frame, shown, target, sha256)

    def _no_near_duplicates(self) -> None:
        """The setting was taken out: the clusters go with it."""
        target = self.into.target("near_duplicates")
        if self.into.transaction.recorded(target):
            self.into.transaction.delete("near_duplicates", collection=self.into.name)
            self.into.transaction.forget(target)
            self.into.count("settings", 1)

    def _warn_of_what_is_kept(self, systems: Systems) -> None:
        """Say which inputs the settings no longer name; what is in the lake stays."""
        into, kept = self.into, []
        imported = {
            assessor
            for assessor in into.known("judgments", "assessor")
            if into.transaction.recorded(imported_mark(into.name, assessor))
        }
        by_inbox = {"systems": self._systems_of_the_inbox()}
        for table, column, named in (
            ("judgments", "assessor", imported | set(self._judgment_sources())),
            ("official_ranks", "leaderboard", set(into.collection.official_ranks)),
            ("systems", "system", systems.claimed | systems.of_refused),
        ):
            if names := sorted(into.known(table, column) - named - by_inbox.get(table, set())):
                kept.append(f"{table.replace('_', ' ')} {', '.join(names[:5])}")
                kept[-1] += f" and {len(names) - 5} more" if len(names) > 5 else ""
        if kept:
            into.outcome.warnings.append(
                f"kept in the lake, though nothing in gradelake.toml names them: {'; '.join(kept)}"
            )

    def _systems_of_the_inbox(self) -> set[str]:
        """Systems whose files came through the inbox, where no setting names them any more."""
        if self.into.collection.inbox is None:
            return set()
        found = self.into.transaction.lake.column(
            "select system from lake.raw.systems "
            "where collection = ? and starts_with(source_file, ?)",
            self.into.name,
            os.path.join(self.into.collection.inbox, ""),
        )
        return set(found)

    def _official_ranks(self, leaderboard: str, shown: str) -> None:
        target = self.into.target(f"official_ranks/{leaderboard}")
        sha256 = self.into.file_hash(shown)
        if not self.into.changed(target, sha256):
            return
        ranks = texts.read_official_ranks(self.into.collection.path(shown), shown)
        types = types_of("official_ranks", "system", "rank", "score")
        frame = pl.DataFrame(ranks, schema=types, orient="row")
        self.into.replace("official_ranks", frame, shown, target, sha256, leaderboard=leaderboard)
