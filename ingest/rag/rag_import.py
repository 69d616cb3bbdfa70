"""`gradelake import rag`: a log becomes a system's ranking, its answers, and references.

The system's rows in `raw.run_entries` are what it retrieved, those in `raw.answers`, `sentences`
and `citations` what it said: rankings are scored from the first alone, nuggets and support from
the others alone, so that one name can have both.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from gradelake.ingest.collections import trec
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.passages import add_texts
from gradelake.ingest.collections.pipeline import collection_row
from gradelake.ingest.collections.responses import (
    Citation,
    Response,
    citations_of,
    parts_of,
    passage_id,
)
from gradelake.ingest.collections.system_names import OF_SYSTEMS, log_of
from gradelake.ingest.collections.systems import RANKING, enter, write_answers
from gradelake.ingest.collections.targets import Outcome, Targets, hash_of
from gradelake.ingest.collections.texts import query_id_of
from gradelake.ingest.landing.imported import Imported
from gradelake.ingest.rag.log import FIX, Row, read
from gradelake.sql.common import files
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.hashes import text_sha256
from gradelake.sql.common.problems import Problems, reject
from gradelake.sql.common.project import Project, check_name
from gradelake.sql.common.rubric_items import item_id_of
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import frame_of

BANK = "reference"
_FROM_LOGS = "rag"  # what the ledger has in the place of the bank's hash
_MARK = r"\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]"  # noqa: RUF001
# closing punctuation, marks, and blanks before what looks like the start of a sentence
_SENTENCE_END = re.compile(
    rf"[.!?][\"')\]]*(?:\s*{_MARK})*\s+(?=[\"'(]?[A-Z0-9])|[。！？]|\s*\n\s*"  # noqa: RUF001
)


@dataclass
class _Log:
    """What a log brings, ready to be written."""

    entries: list[tuple[str, str, int, float]] = field(default_factory=list)
    answers: list[Response] = field(default_factory=list)
    texts: dict[str, tuple[str, str, int | None, str]] = field(default_factory=dict)
    references: dict[str, dict[str, str]] = field(default_factory=dict)  # query -> item -> text
    topics: dict[str, str] = field(default_factory=dict)
    n_questions: int = 0
    counts: Counter[str] = field(default_factory=Counter)


def import_rag(
    project: Project,
    collection: str,
    path: Path,
    system: str | None,
    marks: bool,
    references: bool | None,
    arguments: list[str],
) -> Imported:
    """Store a log as a system (named after its file, unless `system` says so), in one commit.

    `marks`: whether [1] in an answer cites the first context. `references`: whether they become
    nuggets; None: where the collection has no other rubric. A changed file replaces the system.
    Raises `BadInput` for a collection that gradelake.toml does not have and a name that cannot be
    used or is another's, and `Rejected` for a file with faults, of which nothing lands.
    """
    settings = Collection.named(project, collection)
    shown = str(path)
    system = system or trec.system_name(path)
    check_name(system, "--system")
    if not path.is_file():
        raise BadInput(f"{shown}: no such file", "Name a log: JSON lines, JSON, CSV or Parquet.")
    done = Imported(shown, collection, "questions", {"system": system})
    with Lake.create(project) as lake:
        with lake.transaction("import", f"rag {collection} {system}") as transaction:
            into = Targets(transaction, settings, Outcome(collection))
            _refuse_if_from_elsewhere(into, system)
            into.query_ids = into.known("queries", "query_id")
            topics = sorted(into.query_ids) if settings.names_topics else None
            if topics == []:
                fix = f"Bring them in first: gradelake ingest {collection}"
                raise BadInput(f"the topics of {collection} are not in the lake yet", fix)
            sha256 = files.sha256_of(path)
            of_content = hash_of((sha256, marks, references, topics))
            target = log_of(collection, system)
            if transaction.recorded(target) == of_content:
                return done
            rows, columns = read(path, shown)
            files.require_same(path, shown, sha256)
            log = _taken(into, rows, shown, system, marks)
            log.counts["are new topics"] = len(log.topics)
            done.warnings.append(f"{shown}: read {', '.join(columns)}")
            for what, n in log.counts.items():
                verb, _, rest = what.partition(" ")
                if n:
                    done.warnings.append(f"{counted(n, 'questions', verb)} {rest}")
            done.written = log.n_questions
            _write(into, log, system, shown, sha256)
            done.warnings += _write_references(into, log.references, references)
            collection_row(into)
            transaction.record(target, of_content, done.written)
            transaction.say(questions=done.written)
            transaction.finish_run(arguments)
        done.snapshot = lake.newest_snapshot()
    return done


def _refuse_if_from_elsewhere(into: Targets, system: str) -> None:
    of_log = into.transaction.recorded(log_of(into.name, system))
    if not of_log and (files_ := into.known("systems", "source_file", system=system)):
        raise BadInput(
            f"{into.name} has a system {system!r} from {files_.pop()}",
            "Choose another --system, or remove that one: gradelake system remove.",
        )


def _taken(into: Targets, rows: list[Row], shown: str, system: str, marks: bool) -> _Log:
    """What the rows bring. Raises `Rejected` with all that are at fault."""
    log, problems = _Log(), Problems(shown, FIX)
    by_text: dict[str, set[str]] = {}
    for query_id, text in into.transaction.lake.query_texts(into.name).items():
        by_text.setdefault(_same(text), set()).add(query_id)
    known = _known_texts(into, rows)
    asked: dict[str, Row] = {}
    for row in rows:
        try:
            query_id = _query_of(into, row, by_text, log)
            if query_id is None:
                log.counts["are no topics and left out"] += 1
                continue
            if (first := asked.setdefault(query_id, row)) is not row:
                if (first.answer, first.contexts) != (row.answer, row.contexts):
                    raise ValueError(
                        f"the question is asked twice (first on {first.line}), with other results"
                    )
                log.counts["are there twice and taken once"] += 1
                continue
            _take(log, row, query_id, system, known, marks)
        except ValueError as error:
            problems.add(row.line, str(error))
    problems.raise_if_any()
    log.n_questions = len(asked)
    if not log.entries:
        fix = "Answers without contexts are for `responses` in gradelake.toml."
        raise reject(shown, None, "no question has contexts", fix)
    return log


def _query_of(into: Targets, row: Row, by_text: dict[str, set[str]], log: _Log) -> str | None:
    """The topic of a row, by its id or its text; a new one where logs bring topics. None: left
    out. Raises `ValueError` where that cannot be told."""
    found = by_text.setdefault(_same(row.question), set())
    if row.query_id in into.query_ids or (not row.query_id and len(found) == 1):
        if row.query_id and not (into.collection.names_topics or row.query_id in found):
            raise ValueError(f"query {row.query_id!r} has another question in the lake")
        return row.query_id or next(iter(found))
    if found and not row.query_id:
        raise ValueError("several topics have this question: say which, in a column query_id")
    if into.collection.names_topics:
        if into.collection.unknown_queries == "leave out":
            return None
        raise ValueError(f"no topic of {into.name} is {row.query_id or row.question!r}")
    query_id = row.query_id or query_id_of(_same(row.question))
    if re.search(r"\s", query_id):
        raise ValueError(f"the query's id {query_id!r} has a space in it")
    log.topics[query_id] = row.question
    into.query_ids.add(query_id)
    found.add(query_id)
    return query_id


def _same(question: str) -> str:
    """What two questions have in common that are the same."""
    return " ".join(question.split())


def _known_texts(into: Targets, rows: list[Row]) -> dict[str, str]:
    """Passages of the collection that are retrieved: their hashes, and ids alone, -> their ids."""
    contexts = [context for row in rows for context in row.contexts]
    found = into.transaction.lake.rows(
        "select text_sha256, passage_id from lake.raw.passages "
        "where collection = ? and origin = 'corpus' "
        "and (text_sha256 in (select unnest(?)) or passage_id in (select unnest(?))) order by all",
        into.name,
        [text_sha256(each.text) for each in contexts if each.text],
        [each.own_id for each in contexts if not each.text],
    )
    return dict(reversed(found)) | {own_id: own_id for _, own_id in found}


def _take(
    log: _Log, row: Row, query_id: str, system: str, known: dict[str, str], marks: bool
) -> None:
    """Add a row's contexts, answer and references. Raises `ValueError` with what is wrong."""
    places: list[str | None] = []  # by their places, the passages; blank ones have none
    for context in row.contexts:
        own_id = known.get(text_sha256(context.text) if context.text else context.own_id)
        if context.own_id and not context.text and not own_id:
            raise ValueError(f"context {context.own_id!r} has no text, and is no passage here")
        if context.text and not own_id:
            own_id = passage_id(context.text)
            log.texts[own_id] = (own_id, context.text, None, "corpus")
        places.append(own_id)
    ranked = list(dict.fromkeys(filter(None, places)))
    log.entries += [
        (query_id, own_id, rank, -float(rank)) for rank, own_id in enumerate(ranked, start=1)
    ]
    if not ranked:
        log.counts["have no contexts"] += 1
    if row.answer is not None:
        log.answers.append(_response(log, row, query_id, system, places, marks))
    items = {
        item_id_of(query_id, "", sentence): sentence
        for text in row.references
        for sentence in sentences_of(text)
    }
    if items:
        log.references.setdefault(query_id, {}).update(items)


def _response(
    log: _Log, row: Row, query_id: str, system: str, places: list[str | None], marks: bool
) -> Response:
    """An answer, and what each of its sentences cites: what it says, or all contexts together."""
    if isinstance(row.answer, list):
        own_ids = {each.own_id: at for each, at in zip(row.contexts, places, strict=True)}
        sentences = [str(part.get("text") or "") for part in row.answer]
        text = " ".join(map(str.strip, sentences)).strip()
        cited = [
            [own_ids.get(each.cited_passage_id) or each.cited_passage_id for each in stated]
            for number, part in enumerate(row.answer, start=1)
            for stated in [citations_of(part.get("citations"), number, places)]
        ]
    else:
        text = row.answer or ""
        sentences = sentences_of(text)
        cited = [_marked(sentence, places) if marks else [] for sentence in sentences]
        log.counts["have an answer that cites by marks such as [1]"] += any(cited)
    if not any(cited) and (found := list(dict.fromkeys(filter(None, places)))):
        cited = [[_together(log, row, found)]] * len(sentences)
    log.counts["have an empty answer, which scores 0"] += not text
    citations = [
        Citation(number, nth, own_id)
        for number, of_sentence in enumerate(cited if text else [], start=1)
        for nth, own_id in enumerate(of_sentence, start=1)
    ]
    return Response(system, query_id, text, row.line, sentences, citations)


def _marked(sentence: str, places: list[str | None]) -> list[str]:
    """What the marks of a sentence cite, counted from 1; a mark itself where it is no context's."""
    numbers: list[int] = []
    for mark in re.findall(_MARK, sentence):
        for part in re.split("[,;]", mark[1:-1]):
            first, *last = (int(number) for number in re.split("[–-]", part))  # noqa: RUF001
            numbers += range(first, (last or [first])[-1] + 1)
    if 0 in numbers:
        raise ValueError("the answer cites [0], but marks count from 1 (--no-marks: they are none)")
    by_number = dict(enumerate(places, start=1))
    return list(dict.fromkeys(by_number.get(number) or f"[{number}]" for number in numbers))


def _together(log: _Log, row: Row, found: list[str]) -> str:
    """The passage that holds all contexts of a row, so that one request shows them all."""
    if len(found) == 1:
        return found[0]
    text = "\n\n".join(dict.fromkeys(each.text for each in row.contexts if each.text))
    own_id = passage_id(text)
    log.texts.setdefault(own_id, (own_id, text, None, "contexts"))
    return own_id


def sentences_of(text: str) -> list[str]:
    """The sentences of an answer, with the marks behind them; each line is one at least."""
    return [text[start:end] for start, end in parts_of(text, 0, len(text), _SENTENCE_END)]


def _write(into: Targets, log: _Log, system: str, shown: str, sha256: str) -> None:
    """Put what a log brings in the place of what the system had."""
    topics = frame_of("queries", ("query_id", "text"), log.topics.items())
    into.insert("queries", topics)
    for table in OF_SYSTEMS:
        into.transaction.delete(table, collection=into.name, system=system)
    entries = frame_of("run_entries", RANKING, log.entries)
    into.insert("run_entries", entries, system=system)
    enter(into, "ranking", [(system, shown, sha256, entries.height)])
    add_texts(into, log.texts)
    write_answers(into, system, log.answers)


def _write_references(
    into: Targets, stated: dict[str, dict[str, str]], wanted: bool | None
) -> list[str]:
    """Make references nuggets, a sentence each, in a bank. Returns what there is to say of it."""
    transaction, target = into.transaction, f"{into.name}/bank/{BANK}"
    of_bank = {"collection": into.name, "bank": BANK}
    others = into.known("rubric_items", "bank") - {BANK}
    if transaction.recorded(target) not in (None, _FROM_LOGS):
        others.add(BANK)
    if not stated or wanted is False:
        return []
    if others and not wanted:
        what = f"the rubric of {into.name} has {', '.join(sorted(others))}"
        return [f"references are left out: {what}; --references makes them nuggets beside it"]
    of_queries = transaction.lake.rows(
        "select query_id, list(item_id) from lake.raw.rubric_items "
        "where collection = ? and bank = ? group by query_id",
        *of_bank.values(),
    )
    known = {query: set(items) for query, items in of_queries}
    changed = [query for query, items in stated.items() if known.get(query) != items.keys()]
    transaction.delete("rubric_items", **of_bank, query_id=changed)
    rows = [
        (query, item, text, place)
        for query in changed
        for place, (item, text) in enumerate(stated[query].items(), start=1)
    ]
    items = frame_of("rubric_items", ("query_id", "item_id", "text", "place"), rows)
    made = {"facet_id": "", "kind": "nugget", "weight": 1.0, "origin": "imported"}
    transaction.insert("rubric_items", items, **of_bank, **made, created_at=utc_now())
    n_items = transaction.lake.value(
        "select count(*) from lake.raw.rubric_items where collection = ? and bank = ?",
        *of_bank.values(),
    )
    transaction.record(target, _FROM_LOGS, n_items)
    notes = [f"bank {BANK}: wrote {counted(len(rows), 'nuggets')} of references"] if rows else []
    if other := known.keys() & set(changed):
        notes.append(f"{counted(len(other), 'questions')} had another reference before")
    return notes
