"""Writes grades as the workbench's JSON: one paragraph's entries from the lake's rows."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from gradelake.grading.exchange.as_it_came import ENTRIES, Row, as_json
from gradelake.grading.exchange.workbench import GRADER_COLUMNS
from gradelake.sql.common.hashes import text_sha256

# by a grader's id, the JSON of all that a `gradelake` object says of its grades of a passage: few
# entries need it
Wholes = Callable[[str], str]


# keys of an entry that hold only where they are written anew
_SAID = {"relevance_label", "gradelake", "llm_response_errors", "llm_response_error"}
_quoted = lru_cache(maxsize=1000)(as_json)  # of short texts that come again and again


class Grades(NamedTuple):
    """One grader's grades of a passage in order of their items, by column, which is cheaper than
    grade by grade: columns of raw.grades, and one more."""

    item_id: list[str]
    grade: list[Any]  # whole numbers; None where it failed
    answer: list[str | None]
    response: list[str | None]
    error: list[str | None]
    passage_sha256: list[str | None]
    run: list[int]  # which run wrote it
    since: list[int]  # when it was graded


class GraderEntry:
    """How one grader of the lake stands in the file.

    A grader that came from such a file keeps its own words (`is_plain`); of any other,
    `llm_options` holds a `gradelake` object with its whole row, and each entry its whole grades,
    so that an import restores them. The workbench passes over keys that it does not know.
    """

    def __init__(self, grader: Row):
        settings = json.loads(grader["settings"])
        words = settings.get("workbench")
        self.grader = grader
        self.key = (grader["model"], grader["settings"])
        is_from_file = words is not None and "prefix" not in settings
        self.is_plain = is_from_file and grader["parser"] == "published"
        self.is_label = is_from_file and grader["parser"] == "label"
        self.is_direct = grader["target"] == "direct"
        words = {"llm": grader["model"], **words} if self.is_plain else _own_words(grader, settings)
        self.head = _texts(words)

    def stands_in(self, entry: Row) -> bool:
        """Whether an entry of a file says all of this grader, so that it stands for it as it is."""
        row = (entry.get("llm_options") or {}).get("gradelake") or {}
        return self.is_plain or self.is_label or row.get("grader_id") == self.grader["grader_id"]

    def entry(
        self, rows: Grades, wholes: Wholes, text_hash: str | None, label: int | None, given: Row
    ) -> str:
        """The grades of one passage, laid over what a file had of them: JSON."""
        is_repeated = len(set(rows.item_id)) < len(rows.item_id)  # with another text, too
        best = _one_per_item(rows, text_hash) if is_repeated else rows
        entry = self._direct(best) if self.is_direct else self._exam(best, given)
        if not self.is_plain:
            label = best.grade[0] if self.is_direct else None
        if label is not None:
            entry["relevance_label"] = str(label)
        if not self.is_plain or is_repeated or set(rows.passage_sha256) != {text_hash}:
            entry["gradelake"] = f'{{"grades": [{wholes(self.grader["grader_id"])}]}}'
        return _object(_texts({k: v for k, v in given.items() if k not in _SAID}) | entry)

    def _exam(self, best: Grades, given: Row) -> dict[str, str]:
        """The JSON of each key of `exam_grades`. Of prompts that failed, what a file says."""
        errors = given.get("llm_response_errors")
        errors = errors if isinstance(errors, dict) else {}
        items = map(_quoted, best.item_id)
        each = zip(items, best.grade, self._replies(best), strict=True)
        graded = [(item, grade, reply) for item, grade, reply in each if grade is not None]
        correct = [item for item, grade, _ in graded if grade > 0]
        entry = {
            "correctAnswered": _list(correct),
            "wrongAnswered": _list([item for item, grade, _ in graded if grade <= 0]),
            "answers": _list(
                [f"[{item}, {_quoted(reply)}]" for item, _, reply in graded if reply is not None]
            ),
            **self.head,
            "exam_ratio": str(len(correct) / len(best.item_id)),
        }
        if self.grader["target"] != "extract":
            key = "nugget_id" if self.grader["target"] == "nugget" else "question_id"
            entry["self_ratings"] = _list(
                [f'{{"{key}": {item}, "self_rating": {grade}}}' for item, grade, _ in graded]
            )
        if len(graded) < len(best.item_id):
            entry["llm_response_errors"] = as_json(
                {
                    item_id: errors.get(item_id)
                    or {
                        "response": response or "",
                        "prompt": "",
                        "failure_reason": error or "no reason given",
                        "caught_exception": None,
                    }
                    for item_id, grade, _, response, error, *_ in zip(*best, strict=True)
                    if grade is None
                }
            )
        return entry

    def _direct(self, best: Grades) -> dict[str, str]:
        """The JSON of each key of `grades`. A failed grade is 0 with an error, as the workbench has
        it."""
        grade = best.grade[0] or 0
        entry = {
            "correctAnswered": as_json(grade > 0),
            "answer": as_json(self._replies(best)[0] or ""),
            **self.head,
            "self_ratings": str(grade),
        }
        if best.grade[0] is None:
            entry["llm_response_error"] = as_json(best.error[0] or "no reason given")
        return entry

    def _replies(self, best: Grades) -> list[str | None]:
        replies = best.response
        if not self.is_plain:  # the workbench cannot do without replies
            both = zip(replies, best.grade, strict=True)
            replies = [
                str(grade) if reply is None and grade is not None else reply
                for reply, grade in both
            ]
        if self.grader["target"] == "extract":
            both = zip(replies, best.answer, strict=True)
            replies = [reply if answer is None else answer for reply, answer in both]
        return replies


@dataclass
class PassageParts:
    """What there is of one passage. `grades` are in order of their items, `rankings` JSON; `kept`
    is what files had of it (`as_it_came`)."""

    passage_id: str
    text: str
    judgments: list[Row]
    rankings: str
    n_rankings: int
    grades: dict[str, Grades]  # by grader
    wholes: Wholes
    kept: Row

    def __post_init__(self) -> None:
        self.text_hash = text_sha256(self.text) if self.text.strip() else None


def paragraph(found: PassageParts, graders: dict[str, GraderEntry]) -> str:
    """A paragraph of the file: JSON."""
    keys, data = found.kept.get("keys", {}), found.kept.get("data", {})
    value = _texts({**keys, "paragraph_id": found.passage_id, "text": found.text})
    stated = _texts(data or {})
    for key, text in (("judgments", as_json(found.judgments)), ("rankings", found.rankings)):
        if text != "[]" or not keys or stated.get(key) == "[]":
            stated[key] = text
    if stated or "paragraph_data" not in keys:
        value["paragraph_data"] = _object(stated)
    for key, entries in zip(ENTRIES, _entries(found, graders), strict=True):
        if entries:
            value[key] = _list(entries)
    return _object(value)


def _entries(found: PassageParts, graders: dict[str, GraderEntry]) -> tuple[list[str], list[str]]:
    """JSON of `exam_grades` and `grades`: those of files, in their order, then the others."""
    labels = _labels_of_others(found.grades, graders, found.text_hash)
    is_same_text = found.kept.get("keys", {}).get("text") == found.text
    written: tuple[list[str], list[str]] = ([], [])
    told: set[str] = set()
    given: dict[str, Row] = dict(found.kept.get("entries", {}))  # older imports: unknown keys alone
    for key, texts in zip(ENTRIES, written, strict=True):
        for ids, entry, run in found.kept.get(key, []):
            known = [i for i in ids if i in found.grades]
            for grader_id in known:
                given.setdefault(grader_id, entry)
            standing = {i for i in ids if i in graders and graders[i].stands_in(entry)}
            is_whole = all(set(found.grades[i].run) == {run} for i in standing & {*known})
            if standing and standing <= {*known} and is_whole and is_same_text:
                texts.append(as_json(entry))
                told |= standing
            elif not ids:  # it graded nothing
                texts.append(as_json(entry))
    for grader_id, rows in sorted(
        found.grades.items(), key=lambda of: (graders[of[0]].grader["name"], of[0])
    ):
        grader = graders[grader_id]
        label = labels.get(grader.key)
        if grader_id in told or (grader.is_label and label is not None):
            continue
        of_file = given.get(grader_id, {})
        text = grader.entry(rows, found.wholes, found.text_hash, label, of_file)
        written[grader.is_direct].append(text)
    return written


def _texts(values: Row) -> dict[str, str]:
    return {key: as_json(value) for key, value in values.items()}


def _list(texts: list[str]) -> str:
    return f"[{', '.join(texts)}]"


def _object(texts: dict[str, str]) -> str:
    """JSON of an object, from its values' JSON."""
    return f"{{{', '.join([f'{_quoted(key)}: {text}' for key, text in texts.items()])}}}"


def _labels_of_others(
    by_grader: dict[str, Grades], graders: dict[str, GraderEntry], text_hash: str | None
) -> dict[Any, int]:
    """`key` of graders -> the label that stands in their entry, not in one of its own."""
    entered = {graders[grader_id].key for grader_id in by_grader if graders[grader_id].is_plain}
    return {
        graders[grader_id].key: rows.grade[0]
        for grader_id, rows in by_grader.items()
        if graders[grader_id].is_label
        and graders[grader_id].key in entered
        and rows.passage_sha256 == [text_hash]
    }


def _own_words(grader: Row, settings: dict[str, Any]) -> Row:
    """What the workbench reads of a grader that did not come from one of its files."""
    row = {column: grader[column] for column in GRADER_COLUMNS}
    row["created_at"] = row["created_at"].isoformat()
    target = grader["target"]
    info = {"prompt_class": grader["prompt"] or grader["name"], "is_self_rated": True}
    if isinstance(settings.get("context_first"), bool):
        info["context_first"] = settings["context_first"]
    if target == "extract":
        info["is_self_rated"] = False
    kinds = {"nugget": "nugget", "direct": "direct_grading"}
    return {
        "llm": grader["model"] or grader["name"],
        "llm_options": {"gradelake": row},
        "prompt_info": info,
        "prompt_type": kinds.get(target, "question"),
    }


def _one_per_item(rows: Grades, text_hash: str | None) -> Grades:
    """Each item's grade: of the text that the file shows if there is one, else the newest."""

    def merit(n: int) -> tuple:
        return rows.passage_sha256[n] in (None, text_hash), rows.since[n]

    by_item = groupby(range(len(rows.item_id)), rows.item_id.__getitem__)
    best = [max(of_item, key=merit) for _, of_item in by_item]
    return Grades._make([column[n] for n in best] for column in rows)
