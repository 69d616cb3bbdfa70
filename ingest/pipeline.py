"""`gradelake ingest`: everything of one collection that is new or changed, in one transaction.

Each input (topics, one assessor's judgments, one run, ...) is a *target* with a hash in the
lake's ledger. Unchanged targets are skipped, changed ones replaced, faulty ones reported and left
as the lake has them. Either the whole command lands, or nothing of it.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from pandera.errors import SchemaErrors

from ingest import datasets, files, responses, texts, trec
from ingest.collection import Collection
from ingest.problems import Problems, Rejected, from_contract, reject
from sql.contracts import CONTRACTS, KEYS
from sql.lake import Lake
from sql.transaction import Transaction, utc_now

BATCH_ROWS = 2_000_000  # run entries validated and written at a time
READERS = 2  # files unzipped and parsed side by side


@dataclass
class Outcome:
    """What an ingest did: rows written by kind, inputs left alone, and what was refused."""

    collection: str
    counts: dict[str, int] = field(default_factory=dict)
    unchanged: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    snapshot: int | None = None

    @property
    def exit_code(self) -> int:
        """0 done; 2 nothing landed because of bad input; 3 some of it was refused."""
        if not self.rejected:
            return 0
        return 3 if self.counts or self.unchanged else 2


@dataclass(frozen=True)
class RunSource:
    """A system's ranking to be read: from a TREC run file, or from ir_datasets' scoreddocs."""

    system: str
    shown: str
    sha256: str
    read: Callable[[], pl.DataFrame]


def ingest(
    lake: Lake, collection: Collection, arguments: list[str], progress: Callable[..., Any]
) -> Outcome:
    """Bring a collection's new and changed inputs into the lake.

    `progress(what, iterable, total)` wraps loops that take long. Raises `BadInput` for unusable
    settings; unusable files are in the outcome's `rejected`.
    """
    outcome = Outcome(collection.name)
    with lake.transaction(f"ingest {collection.name}") as transaction:
        _Ingest(transaction, collection, outcome, progress).run()
        transaction.say(**outcome.counts)
        if transaction.dirty:
            transaction.finish_run(arguments)
    if transaction.dirty:
        outcome.snapshot = lake.value("select max(snapshot_id) from lake.snapshots()")
    return outcome


class _Ingest:
    """One ingest in its transaction. Every step replaces whole targets."""

    def __init__(self, transaction, collection, outcome, progress):
        self.transaction: Transaction = transaction
        self.collection: Collection = collection
        self.outcome: Outcome = outcome
        self.progress = progress
        self.name: str = collection.name
        self.dataset = datasets.load(collection)
        self.dataset_id = collection.ir_dataset or f"gradelake/{collection.name}"

    def run(self) -> None:
        self._guarded(self._queries)
        self.query_ids = self._known("queries", "query_id")
        if not self.query_ids:
            return  # nothing else can be checked without topics; why is in `rejected`
        for assessor, source in self._judgment_sources().items():
            self._guarded(lambda: self._judgments(assessor, source))  # noqa: B023
        self._guarded(self._near_duplicates)
        self._runs()
        self._responses()
        for leaderboard, shown in self.collection.official_ranks.items():
            self._guarded(lambda: self._official_ranks(leaderboard, shown))  # noqa: B023
        self._guarded(self._passages)
        self._collection_row()

    # --- targets ------------------------------------------------------------------------------

    def _guarded(self, step: Callable[[], None]) -> None:
        """Run a step that raises `Rejected` before it writes anything."""
        try:
            step()
        except Rejected as rejected:
            self.outcome.rejected.append(rejected)

    def _target(self, kind: str) -> str:
        return f"{self.name}/{kind}"

    def _changed(self, target: str, sha256: str) -> bool:
        if self.transaction.recorded(target) == sha256:
            self.outcome.unchanged += 1
            return False
        return True

    def _written(self, what: str, target: str, sha256: str, n_rows: int) -> None:
        self.transaction.record(target, sha256, n_rows)
        self._count(what, n_rows)

    def _count(self, what: str, n: int) -> None:
        if n:
            self.outcome.counts[what] = self.outcome.counts.get(what, 0) + n

    def _known(self, table: str, column: str) -> set[str]:
        rows = self.transaction.lake.rows(
            f"select distinct {column} from lake.raw.{table} where collection = ?", self.name
        )
        return {value for (value,) in rows}

    def _own(self, frame: pl.DataFrame, **constants: Any) -> pl.DataFrame:
        """A frame with the collection's name, and other constants, as columns."""
        return frame.with_columns(
            pl.lit(value).alias(column)
            for column, value in {"collection": self.name, **constants}.items()
        )

    def _from_dataset(self, what: str, records: Callable[[], Iterable[Any]]) -> list[Any]:
        return datasets.read(self.dataset_id, what, records)

    def _file_hash(self, shown: str) -> str:
        try:
            return files.sha256_of(self.collection.path(shown))
        except OSError as error:
            raise reject(
                shown, None, f"cannot be read: {error.strerror}",
                f"Paths are relative to {self.collection.folder}.",
            ) from error  # fmt: skip

    def _replace(
        self, table: str, frame: pl.DataFrame, shown: str, target: str, sha256: str, **part: str
    ) -> None:
        """Put these rows in the place of the target's old ones.

        `part` names the target within its table. Raises `Rejected`, before anything is written,
        for rows that break the table's contract.
        """
        rows = self._checked(table, frame, shown, **part)
        if self.transaction.recorded(target):
            self.transaction.delete(table, collection=self.name, **part)
        self._written(table, target, sha256, self.transaction.insert_checked(table, rows))

    def _checked(self, table: str, frame: pl.DataFrame, shown: str, **part: Any) -> pl.DataFrame:
        rows = self._own(frame, **part)
        try:
            return CONTRACTS[table].validate(rows, lazy=True)
        except SchemaErrors as error:
            located = rows.with_row_index("line", offset=1).with_columns(file=pl.lit(shown))
            for problems in from_contract(error, located, KEYS[table], KEYS[table][1:]).values():
                problems.raise_if_any()
            raise

    # --- steps --------------------------------------------------------------------------------

    def _collection_row(self) -> None:
        """Settings that marts need; kept up to date with `gradelake.toml`."""
        judged = self.transaction.lake.value(
            "select max(relevance) from lake.raw.judgments where collection = ?", self.name
        )
        settings = self.collection
        row = {
            "collection": self.name,
            "source": settings.ir_dataset or "files",
            "min_relevant": settings.min_relevant,
            "max_relevance": settings.max_relevance or judged or settings.min_relevant,
            "default_pool_depth": settings.default_pool_depth,
            "leave_out_near_duplicates": settings.leave_out_near_duplicates,
        }
        target, sha256 = self._target("collection"), _hash_of(row)
        if self._changed(target, sha256):
            self.transaction.delete("collections", collection=self.name)
            self.transaction.insert("collections", pl.DataFrame([row | {"ingested_at": utc_now()}]))
            self.transaction.record(target, sha256, 1)
            if not self.outcome.counts:
                self._count("settings", 1)
        else:
            self.outcome.unchanged -= 1  # not an input of its own

    def _queries(self) -> None:
        if not self.dataset.has_queries():
            raise reject(self.dataset_id, None, "has no topics", 'Set queries = "topics.tsv".')
        found = self._from_dataset("topics", lambda: self.dataset.queries_iter())
        queries = [datasets.query_text(query) for query in found]
        target, sha256 = self._target("queries"), _hash_of(queries)
        if not self._changed(target, sha256):
            return
        self._refuse_if_queries_in_use({query.query_id for query in queries})
        frame = pl.DataFrame(queries, schema=dict.fromkeys(texts.Query._fields, pl.String))
        self._replace("queries", frame, self.collection.queries or self.dataset_id, target, sha256)

    def _refuse_if_queries_in_use(self, kept: set[str]) -> None:
        """Topics that something in the lake still names cannot go."""
        problems = Problems(
            self.collection.queries or self.dataset_id,
            "Keep these topics; to start over, use another collection name.",
        )
        for query_id in sorted(self._known("queries", "query_id") - kept):
            for table in ("judgments", "run_entries", "grades", "rubric_items"):
                n = self.transaction.lake.value(
                    f"select count(*) from lake.raw.{table} where collection = ? and query_id = ?",
                    self.name, query_id,
                )  # fmt: skip
                if n:
                    problems.add(None, f"query {query_id!r} is gone, but {n:,} {table} name it")
        problems.raise_if_any()

    def _judgment_sources(self) -> dict[str, str | None]:
        """assessor -> file; None means the qrels of the ir_datasets dataset."""
        sources: dict[str, str | None] = dict(self.collection.judgments)
        if self.collection.ir_dataset and self.dataset.has_qrels():
            sources.setdefault(self.collection.assessor, None)
        return sources

    def _judgments(self, assessor: str, shown: str | None) -> None:
        target = self._target(f"judgments/{assessor}")
        if shown is None:
            shown = self.dataset_id
            found = self._from_dataset("qrels", lambda: self.dataset.qrels_iter())
            frame = pl.DataFrame(
                [(q.query_id, q.doc_id, int(q.relevance)) for q in found],
                schema={"query_id": pl.String, "passage_id": pl.String, "relevance": pl.Int64},
                orient="row",
            ).with_row_index("line", offset=1)
            sha256 = _hash_of(frame.rows())
            if not self._changed(target, sha256):
                return
            frame, repeated = trec.once_per_pair(frame, shown)
        else:
            sha256 = self._file_hash(shown)
            if not self._changed(target, sha256):
                return
            frame, repeated = trec.read_qrels(self.collection.path(shown), shown)
        trec.require_known_queries(frame, self.query_ids, shown)
        if repeated:
            self.outcome.warnings.append(f"{shown}: {repeated:,} repeated lines, kept once")
        self._replace("judgments", frame.drop("line"), shown, target, sha256, assessor=assessor)

    def _near_duplicates(self) -> None:
        shown = self.collection.near_duplicates
        if not shown:
            return
        target, sha256 = self._target("near_duplicates"), self._file_hash(shown)
        if not self._changed(target, sha256):
            return
        pairs = texts.read_near_duplicates(self.collection.path(shown), shown)
        frame = pl.DataFrame(pairs, schema=["passage_id", "canonical_passage_id"], orient="row")
        self._replace("near_duplicates", frame, shown, target, sha256)

    def _official_ranks(self, leaderboard: str, shown: str) -> None:
        target, sha256 = self._target(f"official_ranks/{leaderboard}"), self._file_hash(shown)
        if not self._changed(target, sha256):
            return
        ranks = texts.read_official_ranks(self.collection.path(shown), shown)
        frame = pl.DataFrame(
            ranks, orient="row",
            schema={"system": pl.String, "rank": pl.Float64, "score": pl.Float64},
        )  # fmt: skip
        self._replace("official_ranks", frame, shown, target, sha256, leaderboard=leaderboard)

    # --- runs ---------------------------------------------------------------------------------

    def _runs(self) -> None:
        changed = []
        for source in self._run_sources():
            if self._changed(self._system_target(source.system), source.sha256):
                changed.append(source)
        for batch in self._batches(changed):
            self._write_runs(batch)

    def _run_sources(self) -> Iterator[RunSource]:
        """Every run that can be named; files that claim one system are all refused."""
        shown_by_system: dict[str, list[str]] = {}
        for shown in self.collection.matching(self.collection.runs, "runs"):
            system = trec.system_name(self.collection.path(shown))
            shown_by_system.setdefault(system, []).append(shown)
        if self.collection.ir_dataset and self.dataset.has_scoreddocs():
            shown_by_system.setdefault(self.collection.scoreddocs, []).append(self.dataset_id)
        self.claimed = set(shown_by_system)
        generating = self.transaction.lake.rows(
            "select system from lake.raw.systems where collection = ? and kind = 'generation'",
            self.name,
        )
        self.generation_systems = {system for (system,) in generating}
        for system, claims in shown_by_system.items():
            try:
                trec.check_system_name(system, claims[0])
                _refuse_shared_name(system, claims)
                self._refuse_if_generated(system, claims[0])
                if claims == [self.dataset_id]:
                    yield self._scoreddocs(system)
                else:
                    path = self.collection.path(claims[0])
                    yield RunSource(
                        system, claims[0], self._file_hash(claims[0]),
                        lambda path=path, shown=claims[0]: trec.read_run(path, shown),
                    )  # fmt: skip
            except Rejected as rejected:
                self.outcome.rejected.append(rejected)

    def _scoreddocs(self, system: str) -> RunSource:
        records = self._from_dataset("scoreddocs", lambda: self.dataset.scoreddocs_iter())
        frame = pl.DataFrame(
            [(r.query_id, r.doc_id, None, float(r.score)) for r in records],
            schema={"query_id": pl.String, "passage_id": pl.String, "rank": pl.Int32,
                    "score": pl.Float64},
            orient="row",
        ).with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("line"))  # fmt: skip
        return RunSource(system, self.dataset_id, _hash_of(frame.rows()), lambda: frame)

    def _refuse_if_generated(self, system: str, shown: str) -> None:
        if system in self.generation_systems:
            raise reject(
                shown, None, f"the lake has a generation system named {system!r}",
                "Rename this file: a system's name is its file name without endings.",
            )  # fmt: skip

    def _batches(self, sources: list[RunSource]) -> Iterator[list[tuple[RunSource, pl.DataFrame]]]:
        """Read runs side by side; hand them on in batches of bounded size."""
        batch: list[tuple[RunSource, pl.DataFrame]] = []
        rows = 0
        with ThreadPoolExecutor(READERS) as readers:
            frames = _read_ahead(readers, sources)
            for source, result in self.progress("reading runs", frames, len(sources)):
                try:
                    frame = result()
                    trec.require_known_queries(frame, self.query_ids, source.shown)
                except Rejected as rejected:
                    self.outcome.rejected.append(rejected)
                    continue
                no_rank = frame["rank"].null_count()
                if no_rank and source.shown != self.dataset_id:
                    self.outcome.warnings.append(
                        f"{source.shown}: {no_rank:,} ranks are no whole numbers; left empty "
                        "(ranking is by score)"
                    )
                batch.append((source, frame))
                rows += frame.height
                if rows >= BATCH_ROWS:
                    yield batch
                    batch, rows = [], 0
        if batch:
            yield batch

    def _write_runs(self, batch: list[tuple[RunSource, pl.DataFrame]]) -> None:
        rows = pl.concat(
            self._own(frame, system=source.system, file=source.shown) for source, frame in batch
        )
        rows, refused = self._valid_entries(rows)
        self._replace_systems(
            "ranking",
            [
                (source.system, source.shown, source.sha256, frame.height)
                for source, frame in batch
                if source.shown not in refused
            ],
        )
        written = self.transaction.insert_checked("run_entries", rows)
        self._count("run_entries", written)

    def _valid_entries(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, set[str]]:
        """Rows of the files that keep the contract, and the files that do not."""
        contract = CONTRACTS["run_entries"]
        try:
            return contract.validate(rows.drop("file", "line"), lazy=True), set()
        except SchemaErrors as error:
            broken = from_contract(error, rows, KEYS["run_entries"], ("query_id", "passage_id"))
        for problems in broken.values():
            self._guarded(problems.raise_if_any)
        good = rows.filter(~pl.col("file").is_in(list(broken)))
        return contract.validate(good.drop("file", "line"), lazy=True), set(broken)

    def _replace_systems(self, kind: str, found: list[tuple[str, str, str, int]]) -> None:
        """Drop what the lake has of these (system, file, hash, rows), and enter their new rows."""
        if not found:
            return
        known = [s for s, *_ in found if self.transaction.recorded(self._system_target(s))]
        self._drop_systems(known)
        frame = pl.DataFrame(
            found, schema=["system", "source_file", "file_sha256", "n_rows"], orient="row"
        )
        self.transaction.insert("systems", self._own(frame, kind=kind, ingested_at=utc_now()))
        for system, _, sha256, n_rows in found:
            self.transaction.record(self._system_target(system), sha256, n_rows)
        self._count("systems", len(found))

    def _drop_systems(self, systems: Iterable[str]) -> None:
        if systems := sorted(systems):
            for table in ("systems", "run_entries", "citations"):
                self.transaction.delete(table, collection=self.name, system=systems)

    def _system_target(self, system: str) -> str:
        return self._target(f"systems/{system}")

    # --- responses ----------------------------------------------------------------------------

    def _responses(self) -> None:
        changed: list[tuple[str, str]] = []
        for shown in self.collection.matching(self.collection.responses, "responses"):
            self._guarded(lambda: self._look_at_responses(shown, changed))  # noqa: B023
        for shown, sha256 in changed:
            self._guarded(lambda: self._response_file(shown, sha256))  # noqa: B023

    def _look_at_responses(self, shown: str, changed: list[tuple[str, str]]) -> None:
        """Add a file that changed to `changed`; one that did not keeps its systems from others."""
        sha256 = self._file_hash(shown)
        if self._changed(self._target(f"responses/{shown}"), sha256):
            changed.append((shown, sha256))
        else:
            self.claimed |= self._generated_by(shown)

    def _generated_by(self, shown: str) -> set[str]:
        rows = self.transaction.lake.rows(
            "select system from lake.raw.systems "
            "where collection = ? and kind = 'generation' and source_file = ?",
            self.name, shown,
        )  # fmt: skip
        return {system for (system,) in rows}

    def _response_file(self, shown: str, sha256: str) -> None:
        found = responses.read_responses(self.collection.path(shown), shown)
        by_system: dict[str, list[responses.Response]] = {}
        for response in found:
            by_system.setdefault(response.system, []).append(response)
        self._check_responses(found, by_system, shown)
        self.claimed |= set(by_system)
        self._drop_systems(self._generated_by(shown) - set(by_system))
        entries = {system: _entries(given) for system, given in by_system.items()}
        self._replace_systems(
            "generation", [(s, shown, sha256, frame.height) for s, frame in entries.items()]
        )
        for system, given in by_system.items():
            n_rows = self.transaction.insert(
                "run_entries", self._own(entries[system], system=system)
            )
            self._count("run_entries", n_rows)
            citations = _citations(given)
            if citations.height:
                self.transaction.insert("citations", self._own(citations, system=system))
        self._written("responses", self._target(f"responses/{shown}"), sha256, len(found))
        self._response_passages(found)

    def _check_responses(self, found, by_system, shown) -> None:
        problems = Problems(shown, "Mend these lines and ingest again.")
        first_line = {system: given[0].line for system, given in by_system.items()}
        for system, line in first_line.items():
            try:
                trec.check_system_name(system, shown)
            except Rejected as rejected:
                problems.add(line, rejected.problems[0].message)
            if system in self.claimed:
                problems.add(line, f"system {system!r} is also in another file")
        for response in found:
            if response.query_id not in self.query_ids:
                problems.add(response.line, f"unknown query {response.query_id!r}")
        problems.raise_if_any()

    def _response_passages(self, found: list[responses.Response]) -> None:
        known = self._known("passages", "passage_id")
        rows = {
            passage_id: (passage_id, text, position)
            for response in found
            for position, (passage_id, text) in enumerate(response.passages(), start=1)
            if passage_id not in known
        }
        frame = pl.DataFrame(
            list(rows.values()), orient="row",
            schema={"passage_id": pl.String, "text": pl.String, "position": pl.Int64},
        )  # fmt: skip
        self.transaction.insert("passages", self._own(_hashed(frame), origin="response"))

    # --- passages -----------------------------------------------------------------------------

    def _passages(self) -> None:
        if not self.dataset.has_docs():
            return
        if self.collection.passages_for == "pool":
            self._pooled_passages()
        else:
            self._all_passages()
        if not self.transaction.dirty:
            return
        missing = self.transaction.lake.value(
            f"select count(*) from (select distinct passage_id from ({POOL}) anti join "
            "(select passage_id from lake.raw.passages where collection = $collection) "
            "using (passage_id))",
            collection=self.name,
            depth=self.collection.default_pool_depth,
        )
        if missing:
            self.outcome.warnings.append(
                f"{missing:,} pooled passages have no text here (they can be ranked, not graded)"
            )

    def _all_passages(self) -> None:
        shown = self.collection.passages
        target = self._target("passages")
        sha256 = self._file_hash(shown) if shown else self.dataset_id
        if not self._changed(target, sha256):
            return
        found = self._from_dataset("passages", lambda: self.dataset.docs_iter())
        n_rows = self._replace_passages(found)
        self._written("passages", target, sha256, n_rows)

    def _pooled_passages(self) -> None:
        """Look up only what systems ranked high, or assessors judged, and the lake has not."""
        wanted = self.transaction.lake.rows(
            f"select distinct passage_id from ({POOL}) anti join "
            "(select passage_id from lake.raw.passages where collection = $collection) "
            "using (passage_id) order by passage_id",
            collection=self.name,
            depth=self.collection.default_pool_depth,
        )
        if not wanted:
            return
        ids = [passage_id for (passage_id,) in wanted]
        found = self._from_dataset("passages", lambda: self.dataset.docs_store().get_many_iter(ids))
        self._count("passages", self._replace_passages(found))

    def _replace_passages(self, found: list[Any]) -> int:
        """Insert passages, replacing those with the same id. Others in the lake stay."""
        frame = pl.DataFrame(
            [(doc.doc_id, doc.default_text(), None) for doc in found], orient="row",
            schema={"passage_id": pl.String, "text": pl.String, "position": pl.Int64},
        )  # fmt: skip
        blank = frame["text"].fill_null("").str.strip_chars() == ""
        if blank.any():
            self.outcome.warnings.append(f"{blank.sum():,} passages have an empty text; left out")
            frame = frame.filter(~blank)
        if frame.is_empty():
            return 0
        shown = self.collection.passages or self.dataset_id
        rows = self._checked("passages", _hashed(frame), shown, origin="corpus")
        connection = self.transaction.lake.connection
        connection.register("new_passages", frame)
        self.transaction.run(
            "delete from {lake}.raw.passages where collection = ? "
            "and passage_id in (select passage_id from new_passages)",
            self.name,
        )
        connection.unregister("new_passages")
        return self.transaction.insert_checked("passages", rows)


# The passages that count for a query (DESIGN: the pool), over the tables of this transaction.
# dbt derives the pool that marts use; this is its superset for looking up texts.
POOL = """
    select passage_id from lake.raw.judgments where collection = $collection
    union
    select passage_id from lake.raw.run_entries where collection = $collection
    qualify row_number() over (
        partition by system, query_id order by score::float desc, passage_id desc
    ) <= $depth
"""


def _refuse_shared_name(system: str, claims: list[str]) -> None:
    if len(claims) > 1:
        problems = Problems(claims[0], "A system's name is its file name without endings: rename.")
        problems.add(None, f"several files claim the system {system!r}: {', '.join(claims)}")
        problems.raise_if_any()


def _read_ahead(readers: ThreadPoolExecutor, sources: list[RunSource]) -> Iterator[tuple]:
    """(source, function that returns its frame or raises), a few files ahead of the consumer."""
    ahead = READERS + 1
    futures = [readers.submit(source.read) for source in sources[:ahead]]
    for number, source in enumerate(sources):
        yield source, futures[number].result
        futures[number] = None
        if (following := number + ahead) < len(sources):
            futures.append(readers.submit(sources[following].read))


def _hashed(passages: pl.DataFrame) -> pl.DataFrame:
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in passages["text"]]
    return passages.with_columns(
        pl.Series("text_sha256", hashes, dtype=pl.String),
        pl.lit(None, dtype=pl.String).alias("doc_id"),
    )


def _entries(given: list[responses.Response]) -> pl.DataFrame:
    """A generated system's passages as a ranking: by position, score = -position."""
    rows = [
        (response.query_id, passage_id, position, -float(position))
        for response in given
        for position, (passage_id, _) in enumerate(response.passages(), start=1)
    ]
    schema = {"query_id": pl.String, "passage_id": pl.String, "rank": pl.Int32,
              "score": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _citations(given: list[responses.Response]) -> pl.DataFrame:
    rows = [
        (response.query_id, response.citing_passage(citation.sentence), citation.sentence,
         citation.cited_passage_id, citation.confidence)
        for response in given
        for citation in response.citations
    ]  # fmt: skip
    schema = {"query_id": pl.String, "passage_id": pl.String, "sentence": pl.Int64,
              "cited_passage_id": pl.String, "confidence": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _hash_of(value: Any) -> str:
    """Hash of parsed content, for inputs that are not one file."""
    return hashlib.sha256(repr(value).encode()).hexdigest()
