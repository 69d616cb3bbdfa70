"""Systems: rankings from TREC runs or scoreddocs, and generated responses."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import polars as pl

from gradelake.ingest.collections import passages, responses, trec
from gradelake.ingest.collections.check import broken_rules
from gradelake.ingest.collections.responses import Response, passage_id
from gradelake.ingest.collections.system_names import OF_SYSTEMS, made_by, target_of
from gradelake.ingest.collections.targets import Targets, hash_of
from gradelake.ingest.collections.texts import Query
from gradelake.ingest.engines.evidence import evidence_of, read_hits
from gradelake.ingest.engines.settings import SearchEngine
from gradelake.ingest.mapping.columns import read_run
from gradelake.ingest.mapping.form import settings_of
from gradelake.ingest.mapping.queries import with_query_ids
from gradelake.ingest.reading.rows import is_table
from gradelake.sql.common import console
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import Problems, Rejected, reject
from gradelake.sql.common.rubric_items import item_id_of
from gradelake.sql.lake.rows import frame_of
from gradelake.sql.lake.staged import Staged

RANKING = ("query_id", "passage_id", "rank", "score")
READERS = 2  # files unzipped and parsed side by side
SAME_RUNS = """
    select list(system order by system), list(source_file order by system)
    from lake.raw.systems
    where collection = ? and kind = 'ranking'
    group by file_sha256
    -- a table that holds several systems is one file
    having count(distinct source_file) > 1 and list_has_any(list(system), ?)
    order by all
"""


@dataclass(frozen=True)
class RunSource:
    """A system's ranking to be read: from a TREC run file, or from ir_datasets' scoreddocs."""

    system: str
    shown: str
    sha256: str
    read: Callable[[], Iterator[pl.DataFrame]]
    is_table: bool = False


@dataclass(frozen=True)
class ResponseFile:
    """A file of responses that was read and found good."""

    shown: str
    sha256: str
    found: list[Response]
    by_system: dict[str, list[Response]]


class Systems:
    """Brings the systems of a collection in. A system's name belongs to one file."""

    def __init__(self, into: Targets):
        self.into = into
        self.claimed: dict[str, str] = {}  # systems that a file of this ingest brings, and which
        self.of_refused: set[str] = set()  # those that the lake has of files refused this time
        self.texts: dict[str, str] = {}  # of passages that search engines found

    def runs(self) -> None:
        """Every run that is new or changed; faulty ones are left as the lake has them."""
        changed = [
            source
            for source in self._run_sources()
            if self.into.changed(target_of(self.into.name, source.system), source.sha256)
        ]
        if not changed:
            return
        staged = self.into.staged("run_entries", "system")
        good: list[tuple[str, str, str, int]] = []
        with ThreadPoolExecutor(READERS) as readers:
            ahead = _read_ahead(readers, changed, self.into.at_work.begin)
            for source, frames in console.progress("reading runs", ahead, len(changed)):
                try:
                    with self.into.at_work.reading(source.shown):
                        n_rows = self._stage_run(staged, source, frames)
                    good.append((source.system, source.shown, source.sha256, n_rows))
                except Rejected as rejected:
                    self.into.outcome.rejected.append(rejected)
        if not good:
            return
        self._replace_systems("ranking", good)
        self._tell_of_same_runs([system for system, *_ in good])
        bad = {source.system for source in changed} - {system for system, *_ in good}
        of_good = "where system not in (select unnest(?))" if bad else ""
        n_rows = self.into.transaction.insert_from(
            "run_entries",
            f"select * exclude (line, arrival) from {staged.view} {of_good}",
            *([sorted(bad)] if bad else []),
        )
        self.into.count("run_entries", n_rows)

    def _stage_run(self, staged: Staged, source: RunSource, frames: Iterator[pl.DataFrame]) -> int:
        """Add a run's rows to those of others. Returns how many. Raises `Rejected` for a run that
        cannot be used, some of whose rows may then be among them."""
        n_rows = n_frames = no_rank = 0
        all_tie, queries = True, set[str]()
        texts: dict[str, str] = {}
        for frame in frames:
            if "text" in frame.columns:
                texts |= dict(frame.select("passage_id", "text").drop_nulls().iter_rows())
                frame = frame.drop("text")
            frame = self.into.of_known_queries(frame, source.shown)
            self.into.stage(staged, frame, source.shown, system=source.system)
            if all_tie := all_tie and _all_tie(frame):
                queries |= {*frame["query_id"]}
            n_rows, n_frames = n_rows + frame.height, n_frames + 1
            no_rank += frame["rank"].null_count()
        self.into.require_some(n_rows, source.shown)
        if n_frames > 1:
            self.into.require_no_repeats(staged, source.shown, system=source.system)
        has_none = source.is_table and no_rank == n_rows  # no column of ranks
        if no_rank and not has_none and source.shown != self.into.dataset_id:
            self.into.outcome.warnings.append(
                f"{source.shown}: ranks that are no whole numbers are left empty: "
                f"{no_rank:,} (ranking is by score)"
            )
        if all_tie and n_rows > len(queries):
            self.into.outcome.warnings.append(
                f"{source.shown}: {source.system} gives all passages of a query one score (or one "
                "rank, without scores): they tie, and stand in the order of their ids"
            )
        self.texts = texts | self.texts
        return n_rows

    def _tell_of_same_runs(self, systems: list[str]) -> None:
        """Say which of these have the same file, under another name, as a system of the lake."""
        same = self.into.transaction.lake.rows(SAME_RUNS, self.into.name, systems)
        self.into.outcome.warnings.extend(
            f"{', '.join(files)} are byte for byte the same: the systems {', '.join(names)} are one"
            for names, files in same
        )

    def _run_sources(self) -> Iterator[RunSource]:
        """Every run that can be named; files that claim one system are all refused."""
        claims: dict[str, dict[str, Callable[[], RunSource]]] = {}  # system -> file -> its run
        for shown in self.into.collection.matching("runs"):
            if is_table(self.into.collection.path(shown), shown, "runs"):
                self.into.guarded(self._tables_runs, shown, claims)
            else:
                system = trec.system_name(self.into.collection.path(shown), shown)
                claims.setdefault(system, {})[shown] = partial(self._run, system, shown)
        for engine, settings in self.into.collection.engines.items():
            shown = evidence_of(self.into.name, engine)
            if self.into.collection.path(shown).exists():  # it was asked
                claims.setdefault(engine, {})[shown] = partial(
                    self._engine, engine, settings, shown
                )
        scoreddocs, own = self.into.collection.scoreddocs, self.into.dataset_id
        if scoreddocs and own and self.into.dataset.has_scoreddocs():
            claims.setdefault(scoreddocs, {})[own] = partial(self._scoreddocs, scoreddocs)
        made = made_by(self.into.transaction, self.into.name)
        self.claimed = {system: next(iter(files)) for system, files in claims.items()}
        self.claimed |= {system: f"`{command}`" for system, command in made.items()}
        generating = self.into.known("systems", "system", kind="generation")
        for system, files in claims.items():
            first, *others = files
            try:
                trec.check_system_name(system, first)
                if others:
                    raise reject(
                        first,
                        None,
                        f"several files claim the system {system!r}: {', '.join(files)}",
                        "A system is named after its file, without endings. Rename all but one, or "
                        'name them in gradelake.toml: { file = "FILE", name = "NAME" }.',
                    )
                if system in generating | made.keys():
                    kind = "generation system" if system in generating else "system of a RAG log"
                    raise reject(
                        first,
                        None,
                        f"the lake has a {kind} named {system!r}",
                        "A system is named after its file, without endings. Rename this one, or "
                        'name its system in gradelake.toml: { file = "FILE", name = "NAME" }.',
                    )
                yield files[first]()
            except Rejected as rejected:
                self.into.outcome.rejected.append(rejected)

    def _run(self, system: str, shown: str) -> RunSource:
        read = partial(trec.read_run, self.into.collection.path(shown), shown)
        sha256 = self.into.file_hash(shown)
        self.into.at_work.check(shown, read)
        return RunSource(system, shown, sha256, read)

    def _tables_runs(
        self, shown: str, claims: dict[str, dict[str, Callable[[], RunSource]]]
    ) -> None:
        """The runs of a table: one for each system that a column of it names, or one that is called
        as the file is, or as the table of a database."""
        sha256 = self.into.file_hash(shown)
        try:
            frame = self.into.read(read_run, shown)
        except Rejected:
            self.of_refused |= self.into.known("systems", "system", source_file=shown)
            raise
        trec.refuse_two_names(shown, frame["system"].drop_nulls().unique())
        settings, path = settings_of(shown), self.into.collection.path(shown)
        unnamed = settings.get("name") or settings.get("table") or trec.system_name(path)
        for part in frame.with_columns(pl.col("system").fill_null(unnamed)).partition_by("system"):
            system = part["system"][0]
            read = partial(iter, [part.drop("system")])
            claims.setdefault(system, {})[shown] = partial(
                RunSource, system, shown, sha256, read, is_table=True
            )

    def _engine(self, system: str, settings: SearchEngine, shown: str) -> RunSource:
        """What a search engine answered to the topics as they are now."""
        into, queries = self.into, self.into.transaction.lake.query_texts(self.into.name)
        path, note = into.collection.path(shown), into.outcome.warnings.append
        read = partial(read_hits, path, shown, settings, queries, note)
        into.at_work.check(shown, read)
        said = settings.model_dump_json(), into.transaction.recorded(into.target("queries"))
        return RunSource(system, shown, hash_of((into.file_hash(shown), *said)), read)

    def _scoreddocs(self, system: str) -> RunSource:
        records = self.into.from_dataset("scoreddocs", lambda: self.into.dataset.scoreddocs_iter())
        rows = ((r.query_id, r.doc_id, None, float(r.score)) for r in records)
        frame = frame_of("run_entries", RANKING, rows)
        frame = frame.with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("line"))
        return RunSource(system, self.into.dataset_id, hash_of(frame.rows()), lambda: iter([frame]))

    def _replace_systems(self, kind: str, found: list[tuple[str, str, str, int]]) -> None:
        """Drop what the lake has of these (system, file, hash, rows), and enter their new rows."""
        if not found:
            return
        into = self.into
        targets = {system: target_of(into.name, system) for system, *_ in found}
        known = [system for system in targets if into.transaction.recorded(targets[system])]
        self._drop_systems(known, found[0][1])
        enter(into, kind, found)
        for system, _, sha256, n_rows in found:
            into.transaction.record(targets[system], sha256, n_rows)
        into.count("systems", len(found))

    def _drop_systems(self, systems: Iterable[str], taken_by: str) -> None:
        """Remove systems' rows. Another file of responses that held one is no longer in the lake
        as it was written: its ledger entry goes too."""
        if not (systems := sorted(systems)):
            return
        transaction = self.into.transaction
        holders = transaction.lake.column(
            "select distinct source_file from lake.raw.systems where collection = ? "
            "and kind = 'generation' and system in (select unnest(?))",
            self.into.name,
            systems,
        )
        for shown in holders:
            if shown != taken_by:
                transaction.forget(self.into.target(f"responses/{shown}"))
        for system in systems:
            transaction.forget(target_of(self.into.name, system))
        for table in OF_SYSTEMS:
            transaction.delete(table, collection=self.into.name, system=systems)

    # --- responses ----------------------------------------------------------------------------

    def responses(self) -> None:
        """Every file of responses that is new or changed. Call it after `runs`.

        All files are read and checked before any is written: a system may have moved from one to
        another, and must not get lost when the other is refused.
        """
        changed: list[tuple[str, str]] = []
        named = self.into.collection.matching("responses")
        for shown in named:
            self.into.guarded(self._look_at_responses, shown, changed)
        good: list[ResponseFile] = []
        for shown, sha256 in changed:
            self.into.guarded(self._read_responses, shown, sha256, good)
        if good and self.into.collection.rules:
            self._hold_to_rules(good, enforce=self.into.collection.rules.enforce)
        refused = set(named) & {rejected.file for rejected in self.into.outcome.rejected}
        for shown in refused:
            self.of_refused |= self._generated_by(shown)
        for file in good:
            self._write_responses(file, all_are_good=len(good) == len(changed))

    def _look_at_responses(self, shown: str, changed: list[tuple[str, str]]) -> None:
        """Add a file that changed to `changed`; one that did not keeps its systems from others."""
        sha256 = self.into.file_hash(shown)
        if self.into.changed(self.into.target(f"responses/{shown}"), sha256):
            changed.append((shown, sha256))
        else:
            self.claimed |= dict.fromkeys(self._generated_by(shown), shown)

    def _generated_by(self, shown: str) -> set[str]:
        return self.into.known("systems", "system", kind="generation", source_file=shown)

    def _read_responses(self, shown: str, sha256: str, good: list[ResponseFile]) -> None:
        found = self.into.read(responses.read_responses, shown)
        found = self._of_known_queries(found, shown)
        self._check_responses(found, shown)
        if n_empty := sum(not response.text for response in found):
            self.into.outcome.warnings.append(
                f"{shown}: {counted(n_empty, 'answers', 'are')} empty; they score 0"
            )
        by_system: dict[str, list[Response]] = {}
        for response in found:
            by_system.setdefault(response.system, []).append(response)
        self.claimed |= dict.fromkeys(by_system, shown)
        good.append(ResponseFile(shown, sha256, found, by_system))

    def _hold_to_rules(self, good: list[ResponseFile], enforce: bool) -> None:
        """Tell what breaks the collection's rules. With `enforce` such a file is refused."""
        into = self.into
        topics = "select query_id, text, description, narrative from lake.raw.queries"
        rows = into.transaction.lake.rows(f"{topics} where collection = ?", into.name)
        of_topics = {row[0]: Query(*row) for row in rows}
        answers = {file.shown: file.found for file in good}
        try:
            broken = broken_rules(into.collection, of_topics, into.dataset, answers)
        except Rejected as rejected:  # passages or limits cannot be read: nobody can tell
            if rejected.file not in into.collection.passages:  # which are looked at later
                into.outcome.rejected.append(rejected)
            if enforce:
                good.clear()
            return
        if not enforce:
            into.outcome.broken += broken
            return
        refused: dict[str, Problems] = {}
        for each in broken:
            hint = "Fix these lines and ingest again: the collection's rules are enforced."
            refused.setdefault(each.file, Problems(each.file, hint)).add(each.line, each.message)
        for problems in refused.values():
            into.guarded(problems.raise_if_any)
        good[:] = [file for file in good if file.shown not in refused]

    def _write_responses(self, file: ResponseFile, all_are_good: bool) -> None:
        target = self.into.target(f"responses/{file.shown}")
        gone = self._generated_by(file.shown) - self.claimed.keys()
        if all_are_good:
            self._drop_systems(gone, file.shown)
        entries = {system: entries_of(answers) for system, answers in file.by_system.items()}
        self._replace_systems(
            "generation",
            [(s, file.shown, file.sha256, frame.height) for s, frame in entries.items()],
        )
        for system, answers in file.by_system.items():
            n_rows = self.into.insert("run_entries", entries[system], system=system)
            self.into.count("run_entries", n_rows)
            write_answers(self.into, system, answers)
        self.into.written("responses", target, file.sha256, len(file.found))
        if gone and not all_are_good:
            self.into.transaction.forget(target)  # looked at again once the others are fixed
            self.into.outcome.warnings.append(
                f"{file.shown} no longer has {', '.join(sorted(gone))}; kept, because another "
                "file of responses was rejected"
            )

    def _of_known_queries(self, found: list[Response], shown: str) -> list[Response]:
        """The responses to topics of the collection; others are kept where they are refused, and
        told with what else is wrong."""
        into = self.into
        stated = pl.DataFrame(
            [(response.query_id, response.line) for response in found],
            schema={"query_id": pl.String, "line": pl.Int64},
            orient="row",
        )
        if into.collection.unknown_queries == "refuse":
            stated = with_query_ids(into.transaction.lake, into.name, into.query_ids, stated)
        else:
            stated = into.of_known_queries(stated, shown)
            into.require_some(stated.height, shown)
        ids = dict(stated.select("line", "query_id").iter_rows())
        return [replace(each, query_id=ids[each.line]) for each in found if each.line in ids]

    def _check_responses(self, found: list[Response], shown: str) -> None:
        problems, systems = Problems(shown, "Fix these lines and ingest again."), set()
        for response in found:
            if response.query_id not in self.into.query_ids:
                problems.add(response.line, f"unknown query {response.query_id!r}")
            if response.system in systems:
                continue
            systems.add(response.system)
            try:
                trec.check_system_name(response.system, shown)
            except Rejected as rejected:
                problems.add(response.line, rejected.problems[0].message)
            if response.system in self.claimed:
                other = self.claimed[response.system]
                problems.add(response.line, f"system {response.system!r} is also in {other}")
        problems.raise_if_any()


def enter(into: Targets, kind: str, found: list[tuple[str, str, str, int]]) -> None:
    """Enter systems as (system, file, hash, rows)."""
    columns = ("system", "source_file", "file_sha256", "n_rows")
    frame = frame_of("systems", columns, found)
    into.insert("systems", frame, kind=kind, ingested_at=utc_now())


def _read_ahead(
    readers: ThreadPoolExecutor, sources: list[RunSource], tell: Callable[[str], None]
) -> Iterator[tuple[RunSource, Iterator[pl.DataFrame]]]:
    """(source, its frames); of a few files ahead of the consumer the first frame is read. `tell`
    is called with each file before that."""

    def begin(source: RunSource) -> Future[tuple[pl.DataFrame | None, Iterator[pl.DataFrame]]]:
        tell(source.shown)
        frames = source.read()
        return readers.submit(lambda: (next(frames, None), frames))

    def all_of(begun: Future) -> Iterator[pl.DataFrame]:
        first, others = begun.result()
        if first is not None:
            yield first
        yield from others

    ahead = READERS + 1
    futures = deque(begin(source) for source in sources[:ahead])
    for number, source in enumerate(sources):
        yield source, all_of(futures.popleft())
        if (following := number + ahead) < len(sources):
            futures.append(begin(sources[following]))


def _all_tie(frame: pl.DataFrame) -> bool:
    """Whether no query has two scores; as a rule the first rows tell that one has."""
    scores = frame.select("query_id", pl.col("score").cast(pl.Float32))
    return not any(
        (part.group_by("query_id").agg(pl.col("score").n_unique())["score"] > 1).any()
        for part in (scores.head(1000), scores)
    )


def entries_of(answers: list[Response]) -> pl.DataFrame:
    """A generated system's passages as a ranking: by position, score = -position."""
    rows = (
        (response.query_id, passage, position, -float(position))
        for response in answers
        for position, (passage, _) in enumerate(response.passages(), start=1)
    )
    return frame_of("run_entries", RANKING, rows)


def write_answers(into: Targets, system: str, answers: list[Response]) -> None:
    """Add what a system answered, whole and by sentence, and what it cites."""
    for table, rows in (
        ("answers", _answers(answers)),
        ("sentences", _sentences(answers)),
        ("citations", _citations(answers)),
    ):
        if rows.height:
            into.insert(table, rows, system=system)
    passages.add_generated(into, answers)


def _answers(answers: list[Response]) -> pl.DataFrame:
    """The whole of each response that is not empty, as one passage."""
    rows = ((response.query_id, passage_id(response.text)) for response in answers if response.text)
    return frame_of("answers", ("query_id", "passage_id"), rows)


def _sentences(answers: list[Response]) -> pl.DataFrame:
    """Sentences by their number in the file, blank ones too."""
    rows = (
        (response.query_id, number, item_id_of(response.query_id, "", text), text.strip())
        for response in answers
        for number, text in enumerate(response.sentences, start=1)
    )
    return frame_of("sentences", ("query_id", "sentence", "item_id", "text"), rows)


def _citations(answers: list[Response]) -> pl.DataFrame:
    fields = ("sentence", "cited_passage_id", "confidence", "citation")
    rows = (
        (
            response.query_id,
            response.citing_passage(citation.sentence),
            *(getattr(citation, name) for name in fields),
        )
        for response in answers
        for citation in response.citations
    )
    return frame_of("citations", ("query_id", "passage_id", *fields), rows)
