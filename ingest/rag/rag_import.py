"""`gradelake import rag`: a log becomes systems' rankings, their answers, and references.

A system's rows in `raw.run_entries` are what it retrieved, those in `raw.answers`, `sentences` and
`citations` what it said: rankings are scored from the first alone, nuggets and support from the
others alone, so that one name can have both. A system that retrieved nothing is one of answers, as
those of `responses` are. `raw.retrievals` has what each search found, where the log says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from gradelake.ingest.collections import trec
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.passages import add_texts
from gradelake.ingest.collections.pipeline import collection_row
from gradelake.ingest.collections.scores import notes_of_missing
from gradelake.ingest.collections.starter import write_for_logs
from gradelake.ingest.collections.system_names import OF_SYSTEMS, log_of
from gradelake.ingest.collections.systems import RANKING, enter, entries_of, write_answers
from gradelake.ingest.collections.targets import Ingested, Targets, hash_of
from gradelake.ingest.landing.imported import ImportedFile
from gradelake.ingest.mapping.form import File
from gradelake.ingest.mapping.presets import FileSample, best_of, presets_of
from gradelake.ingest.mapping.stated import Form, file_of_import
from gradelake.ingest.rag.brought import RETRIEVAL, Brought
from gradelake.ingest.rag.log import FIX, Row, read
from gradelake.ingest.rag.topics import Topics
from gradelake.sql.common import files
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.hashes import text_sha256
from gradelake.sql.common.problems import Problems, reject
from gradelake.sql.common.project import Project, check_name, nearest_name
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import frame_of

BANK = "reference"
_BOARD = "board"  # beside what is said of a file: what the board of its metrics is called
_FROM_LOGS = "rag"  # what the ledger has in the place of the bank's hash


@dataclass(frozen=True)
class Options:
    """What is asked of an import. `system`: the name of the file's one system; `marks`: whether [1]
    in an answer cites the first context; `references`: whether they become nuggets (None: where
    the collection has no other rubric); `form`: what is said of the file (mapping/stated.py)."""

    system: str | None = None
    marks: bool = True
    references: bool | None = None
    form: Form = field(default_factory=dict)


def import_rag(
    project: Project | None, collection: str, path: Path, options: Options, arguments: list[str]
) -> ImportedFile:
    """Store a log as systems, in one commit: those that it names, or one that is called as its file
    is. Without a project this folder becomes one. A changed file replaces its systems.

    Raises `BadInput` for a collection that gradelake.toml does not have and a name that cannot be
    used or is another's, and `Rejected` for a file with faults, of which nothing lands.
    """
    check_name(options.system or trec.system_name(path), "--system")
    if not path.is_file():
        raise BadInput(f"{path}: no such file", "Name a log: JSON lines, JSON, CSV or Parquet.")
    shown, made = _file(path, project.folder if project else Path.cwd(), options.form), []
    if project is None:
        check_name(collection, "the collection")
        read(path, shown)  # nothing is made for a file that cannot be read
        project = Project.read(write_for_logs(Path.cwd(), collection))
        made.append(f"made {project.file}, with the collection {collection}, and an empty lake")
    settings = Collection.named(project, collection)
    with Lake.create(project) as lake:
        what = f"rag {collection} {options.system or path.name}"
        with lake.transaction("import", what) as transaction:
            into = Targets(transaction, settings, Ingested(collection))
            into.query_ids = into.known("queries", "query_id")
            done = _import(into, path, shown, options)
            done.warnings[:0] = made
            if transaction.dirty:
                transaction.say(questions=done.written)
                transaction.finish_run(arguments)
        if transaction.dirty:
            done.snapshot = lake.newest_snapshot()
    return done


def _file(path: Path, folder: Path, form: Form) -> File:
    """A log with what is said of it: by options, and by the preset that they name or that its first
    rows fit. Raises `BadInput`."""
    if not (form.get("preset") or form.get("rows")):
        fitting = best_of(presets_of(folder), FileSample(path, str(path)), "rag")
        form = {**form, "preset": next(iter(fitting), None)}
    shown = file_of_import(folder, path, ["rag"], form)
    return File(shown, shown.settings | {_BOARD: (form.get("preset") or "log").split("_")[0]})


def _import(into: Targets, path: Path, shown: File, options: Options) -> ImportedFile:
    """Write what a log brings, unless it is what the lake has."""
    sha256 = files.sha256_of(path)
    rows, columns = read(path, shown)
    names = _names(rows, path, options.system)
    brought = Brought(_known_texts(into, rows), options.marks)
    topics = Topics(into, brought)
    named = sorted(topics.texts) if topics.are_named else None
    said = sorted(shown.settings.items())
    # one from before there were retrievals comes in anew
    new = ["retrievals"] if any(row.retrievals for row in rows) else []
    of_content = hash_of((sha256, options.marks, options.references, named, *said, *new))
    targets = {name: log_of(into.name, name) for name in names.values()}
    by = {"system" if len(targets) == 1 else "systems": ", ".join(targets)}
    done = ImportedFile(str(shown), into.name, "questions", by)
    if all(into.transaction.recorded(each) == of_content for each in targets.values()):
        return done
    done.warnings += _from_elsewhere(into, targets, shown)
    _take(brought, topics, rows, names, shown)
    files.require_same(path, shown, sha256)
    done.warnings += _notes(into, brought, shown, columns)
    done.written = brought.n_questions
    _write(into, brought, shown, sha256)
    done.warnings += _write_references(into, brought.references, options.references)
    collection_row(into)
    for name, target in targets.items():
        into.transaction.record(target, of_content, len(brought.systems[name].asked))
    return done


def _names(rows: list[Row], path: Path, system: str | None) -> dict[str, str]:
    """What each system is called, by what the log calls it. Raises `BadInput`, and `Rejected` where
    two would have one name."""
    stated = list(dict.fromkeys(row.system for row in rows))
    if len(stated) == 1 and system:
        return {stated[0]: system}
    if system:
        what = f"{path} has {len(stated)} systems, and --system names one"
        raise BadInput(what, "Leave it out: they are called as the file calls them.")
    own = trec.system_name(path)
    names = {each: nearest_name(each) or own for each in stated}
    if len(set(names.values())) < len(names):
        same = ", ".join(each for each in names if [*names.values()].count(names[each]) > 1)
        raise reject(str(path), None, f"systems would have one name: {same}", "Rename them.")
    return names


def _from_elsewhere(into: Targets, targets: dict[str, str], shown: str) -> Iterator[str]:
    """A note of each system that was another log's. Raises `BadInput` for one of no log."""
    for system, target in targets.items():
        for other in into.known("systems", "source_file", system=system) - {shown}:
            if not into.transaction.recorded(target):
                raise BadInput(
                    f"{into.name} has a system {system!r} from {other}",
                    "Choose another --system, or remove that one: gradelake system remove.",
                )
            yield f"system {system} was from {other}, and is replaced; --system keeps both"


def _take(
    brought: Brought, topics: Topics, rows: list[Row], names: dict[str, str], shown: str
) -> None:
    """Add what all rows bring. Raises `Rejected` with those that are at fault."""
    problems = Problems(shown, FIX)
    for row in rows:
        try:
            query_id = topics.of(row)
            if query_id is None:
                brought.counts["are no topics and left out"] += 1
            else:
                brought.take(row, query_id, names[row.system])
        except ValueError as error:
            problems.add(row.line, str(error))
    problems.raise_if_any()
    for system in names.values():
        of_system = brought.systems.get(system)
        if not of_system or not (of_system.entries or of_system.answers):
            of_name = f" of {system}" if len(names) > 1 else ""
            raise reject(shown, None, f"no question{of_name} has contexts or an answer", FIX)


def _notes(into: Targets, brought: Brought, shown: File, columns: list[str]) -> list[str]:
    """What there is to say of a log beside what is written."""
    notes = [f"{shown}: read {', '.join(columns)}"]
    scores = _scores_of(brought)
    if measures := sorted(scores["measure"].unique()):
        notes.append(
            f"its scores are the board scores:{shown.settings[_BOARD]}: {', '.join(measures)}"
        )
    notes += notes_of_missing(scores, shown, brought.n_questions)
    brought.counts["are new topics"] = len(brought.topics)
    brought.counts["have turns before them, kept as their narrative"] = sum(
        narrative is not None for _, narrative in brought.topics.values()
    )
    for what, n in brought.counts.items():
        verb, _, rest = what.partition(" ")
        if n:
            notes.append(f"{counted(n, 'questions', verb)} {rest}")
    if len(brought.systems) > 1:
        gone = into.known("systems", "system", source_file=shown) - brought.systems.keys()
        notes += [
            f"{shown} has no system {system} any more, which stays: gradelake system remove"
            for system in sorted(gone)
        ]
    return notes


def _known_texts(into: Targets, rows: list[Row]) -> dict[str, str]:
    """Passages of the collection that are retrieved: their hashes, and ids alone, -> their ids."""
    contexts = [context for row in rows for context in row.retrieved]
    found = into.transaction.lake.rows(
        "select text_sha256, passage_id from lake.raw.passages "
        "where collection = ? and origin = 'corpus' "
        "and (text_sha256 in (select unnest(?)) or passage_id in (select unnest(?))) order by all",
        into.name,
        [text_sha256(each.text) for each in contexts if each.text],
        [each.own_id for each in contexts if not each.text],
    )
    return dict(reversed(found)) | {own_id: own_id for _, own_id in found}


def _write(into: Targets, brought: Brought, shown: File, sha256: str) -> None:
    """Put what a log brings in the place of what its systems had."""
    rows = ((query_id, *said) for query_id, said in brought.topics.items())
    into.insert("queries", frame_of("queries", ("query_id", "text", "narrative"), rows))
    for table in OF_SYSTEMS:
        into.transaction.delete(table, collection=into.name, system=[*brought.systems])
    board = {"collection": into.name, "board": shown.settings[_BOARD]}
    into.transaction.delete("imported_scores", **board, system=[*brought.systems])
    into.transaction.insert("imported_scores", _scores_of(brought), **board, stderr=None)
    for system, found in brought.systems.items():
        kind = "ranking" if found.entries else "generation"
        ranked = frame_of("run_entries", RANKING, found.entries)
        entries = ranked if found.entries else entries_of(found.answers)
        into.insert("run_entries", entries, system=system)
        enter(into, kind, [(system, shown, sha256, entries.height)])
        retrieved = frame_of("retrievals", RETRIEVAL, found.retrieved)
        if retrieved["passage_id"].count():  # else the log does not say what searches found
            into.insert("retrievals", retrieved, system=system)
    add_texts(into, brought.texts)
    for system, found in brought.systems.items():
        write_answers(into, system, found.answers)


def _scores_of(brought: Brought) -> pl.DataFrame:
    """What the metrics of a log say of each answer: measure, system, query_id, score."""
    rows = [
        (measure, system, query_id, score)
        for system, found in brought.systems.items()
        for measure, query_id, score in found.scores
    ]
    return frame_of("imported_scores", ("measure", "system", "query_id", "score"), rows)


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
