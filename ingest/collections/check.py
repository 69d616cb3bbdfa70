"""`gradelake check`: answers held to the form and the rules of their collection, without a lake."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradelake.ingest.collections import datasets
from gradelake.ingest.collections.collection import Collection
from gradelake.ingest.collections.responses import Response, read_responses
from gradelake.ingest.collections.rules import Broken, Rules, print_broken
from gradelake.ingest.collections.texts import Query
from gradelake.ingest.collections.trec import check_system_name
from gradelake.ingest.mapping.columns import roles_of
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems, Rejected
from gradelake.sql.common.project import Project

Files = dict[str, list[Response]]  # answers by file
LIMITS = {"limit": "characters", "word_limit": "words"}  # of a topic, as RAGTIME states them
_NAMED = 5  # topics or documents in one message


def broken_rules(
    collection: Collection, topics: dict[str, Query], dataset: Any, files: Files
) -> list[Broken]:
    """What breaks the collection's rules, by file and line; all answers are to its topics.

    Raises `BadInput` for a rule that cannot be looked at: no passages, no topics with limits.
    """
    rules = collection.rules
    if rules is None:
        return []
    known: set[str] = set()
    if rules.known_ids:
        if not dataset.has_docs():
            raise BadInput(
                f"{_where(collection)}: known_ids needs passages", "Name a file of them."
            )
        named_by = {each for found in files.values() for answer in found for each in _ids(answer)}
        known = {passage.doc_id for passage in dataset.docs_store().get_many_iter(named_by)}
    limits = _limits(collection) if rules.topic_limit else {}
    broken = []
    for shown, answers in files.items():
        answered: dict[str, set[str]] = {}
        for each in answers:
            answered.setdefault(each.system, set()).add(each.query_id)
            of_topic = topics[each.query_id], limits.get(each.query_id, {})
            broken += [
                Broken(shown, each.line, each.system, each.query_id, *found)
                for found in _broken_by(each, rules, *of_topic, known)
            ]
        for system, query_ids in answered.items() if rules.all_topics else ():
            if left_out := [topic for topic in topics if topic not in query_ids]:
                n = f"{len(left_out):,} of {counted(len(topics), 'topics')}"
                message = f"system {system!r} leaves out {n}: {_some(left_out)}"
                broken.append(Broken(shown, None, system, None, "all_topics", message))
    return broken


def _broken_by(
    answer: Response, rules: Rules, topic: Query, limits: dict[str, int], known: set[str]
) -> Iterator[tuple[str, str]]:
    """(rule, what breaks it) of one answer."""
    words = {"words": rules.max_words} if rules.max_words else {}
    for rule, allowed in (("max_words", words), ("topic_limit", limits)):
        for unit, most in allowed.items():
            if (n := _length(answer, unit)) > most:
                yield rule, f"{n:,} {unit}; {most:,} are allowed"
    if (most_cited := rules.max_citations) is not None:
        for sentence, n in Counter(each.sentence for each in answer.citations).items():
            if n > most_cited:
                message = f"sentence {sentence} cites {n}; {most_cited} are allowed"
                yield "max_citations", message
    if rules.max_references and (n := len(answer.references)) > rules.max_references:
        yield "max_references", f"{n:,} references; {rules.max_references:,} are allowed"
    if rules.known_ids and (strange := [each for each in _ids(answer) if each not in known]):
        what = counted(len(strange), "documents")
        yield "known_ids", f"names {what} that the passages lack: {_some(strange)}"
    if lacking := [key for key in rules.metadata if answer.metadata.get(key) in (None, "")]:
        yield "metadata", f"its metadata lack {', '.join(lacking)}"
    copied = answer.metadata.get("narrative", answer.metadata.get("topic", ""))
    of_topic = (topic.text, topic.narrative, topic.description)
    if rules.exact_narratives and str(copied).strip() not in of_topic:
        message = f"its narrative is not that of {topic.query_id}, copied exactly: {copied!r}"
        yield "exact_narratives", message


def _length(answer: Response, unit: str) -> int:
    """The length of all sentences together: words between blanks, or characters as NFKC has
    them."""
    parts = answer.sentences or [answer.text]
    if unit == "words":
        return sum(len(part.split()) for part in parts)
    return sum(len(unicodedata.normalize("NFKC", part)) for part in parts)


def _ids(answer: Response) -> Iterable[str]:
    """Ids of documents that an answer names, each once."""
    cited = (each.cited_passage_id for each in answer.citations)
    return dict.fromkeys([*map(str, answer.references), *cited])


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _where(collection: Collection) -> str:
    return f"[collections.{collection.name}.rules]"


def _limits(collection: Collection) -> dict[str, dict[str, int]]:
    """topic -> how many of what an answer may have, as the topics' JSON says."""
    shown = collection.queries or ""
    problems = Problems(shown, "A limit is a whole number.")
    found = {}
    if shown.removesuffix(".gz").endswith((".jsonl", ".ndjson", ".json")):
        path = collection.path(shown)
        for line, row in roles_of("queries", path, shown, ("query",), problems, (*LIMITS,)):
            stated = {LIMITS[key]: row[key] for key in LIMITS if row.get(key) not in (None, "")}
            if all(re.fullmatch(r"\d{1,9}", str(limit)) for limit in stated.values()):
                found[str(row["query"])] = {unit: int(limit) for unit, limit in stated.items()}
            else:
                problems.add(line, f"{', '.join(map(str, stated.values()))} is no limit")
    problems.raise_if_any()
    if not any(found.values()):
        what = f"topic_limit needs JSON topics with {' or '.join(LIMITS)}"
        raise BadInput(f"{_where(collection)}: {what}", "Or write topic_limit = false.")
    return found


@dataclass
class Verdict:
    """What `gradelake check` found in files of answers."""

    collection: str
    has_rules: bool
    files: Files  # those that can be read
    broken: list[Broken] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """1: a rule is broken, or a file cannot be read."""
        return 1 if self.broken or self.rejected else 0

    def print(self) -> None:
        for rejected in self.rejected:
            console.warn(str(rejected))
        print_broken(self.broken, len(self.broken))
        if not self.has_rules:
            console.hint(f"only the form: there is no [collections.{self.collection}.rules]")
        n_broken = len({each.file for each in self.broken})
        n_answers = counted(sum(map(len, self.files.values())), "answers")
        said = f"{counted(n_broken, 'files', 'break')} a rule" if n_broken else "no rule is broken"
        console.say(f"{counted(len(self.files), 'files')} with {n_answers}: {said}")

    def as_object(self) -> dict[str, Any]:
        problems = [problem for rejected in self.rejected for problem in rejected.problems]
        return {
            "collection": self.collection,
            "files": {shown: len(found) for shown, found in self.files.items()},
            "broken": [each._asdict() for each in self.broken],
            "rejected": [vars(problem) for problem in problems],
        }


def check(project: Project, name: str, named_files: Iterable[str] = ()) -> Verdict:
    """Hold files of answers, or all that the collection's settings name, to its form and rules, as
    an ingest would; without a lake. Raises `BadInput` for unusable settings."""
    collection = Collection.named(project, name)
    dataset = datasets.load(collection)
    if not dataset.has_queries():
        raise BadInput(f"{name} has no topics", 'Set queries = "topics.tsv".')
    topics = {each.query_id: each for each in map(datasets.query_text, dataset.queries_iter())}
    verdict = Verdict(name, collection.rules is not None, {})
    owners: dict[str, str] = {}
    places = {shown: Path(shown) for shown in named_files} or {
        shown: collection.path(shown) for shown in collection.matching("responses")
    }
    for shown, path in places.items():
        try:
            verdict.files[shown] = _readable(path, shown, collection, topics, owners)
        except Rejected as rejected:
            verdict.rejected.append(rejected)
    verdict.broken = broken_rules(collection, topics, dataset, verdict.files)
    return verdict


def _readable(
    path: Path, shown: str, collection: Collection, topics: dict[str, Query], owners: dict[str, str]
) -> list[Response]:
    """The answers of a file. Raises `Rejected` for what an ingest refuses, whatever the rules."""
    found = read_responses(path, shown)
    problems = Problems(shown, "Fix these lines.")
    for system in dict.fromkeys(answer.system for answer in found):
        check_system_name(system, shown)
        if (other := owners.setdefault(system, shown)) != shown:
            problems.add(None, f"system {system!r} is also in {other}")
    ids = {topic.text: name for name, topic in topics.items()} | {name: name for name in topics}
    for answer in found:
        answer.query_id = ids.get(answer.query_id, answer.query_id)
        if answer.query_id not in topics and collection.unknown_queries == "refuse":
            problems.add(answer.line, f"unknown query {answer.query_id!r}")
    problems.raise_if_any()
    return [answer for answer in found if answer.query_id in topics]
