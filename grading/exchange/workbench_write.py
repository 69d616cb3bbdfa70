"""Writes grades as the workbench's JSON: one paragraph's entries from the lake's rows."""

import json
from collections.abc import Callable
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from gradelake.grading.exchange.beside_rows import Row, as_json, with_beside
from gradelake.grading.exchange.workbench import GRADER_COLUMNS, sha256

# by a grader's id, the JSON of all that a `gradelake` object says of its grades of a passage: few
# entries need it
Wholes = Callable[[str], str]


class Grade(NamedTuple):
    """What tells an item of an entry: columns of raw.grades, and one more."""

    item_id: str
    grade: Any  # a whole number; None where it failed
    answer: str | None
    response: str | None
    error: str | None
    passage_sha256: str | None
    since: int  # when it was graded


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
        if self.is_plain:
            self.head = {"llm": grader["model"], **words}
        else:
            self.head = _own_words(grader, settings)

    def entry(
        self,
        rows: list[Grade],
        wholes: Wholes,
        text_hash: str | None,
        label: int | None,
        beside: Row,
    ) -> str:
        """The grades of one passage, in order of their items, with what was beside them: JSON."""
        is_repeated = len({row.item_id for row in rows}) < len(rows)  # with another text, too
        best = _one_per_item(rows, text_hash) if is_repeated else rows
        entry = self._direct(best[0]) if self.is_direct else self._exam(best)
        if not self.is_plain:
            label = best[0].grade if self.is_direct else None
        if label is not None:
            entry["relevance_label"] = label
        other_text = any(row.passage_sha256 != text_hash for row in rows)
        text = as_json(with_beside(entry, beside))
        if not self.is_plain or is_repeated or other_text:
            whole = wholes(self.grader["grader_id"])
            text = f'{text[:-1]}, "gradelake": {{"grades": [{whole}]}}}}'
        return text

    def _exam(self, best: list[Grade]) -> Row:
        """Of `exam_grades`."""
        graded = [row for row in best if row.grade is not None]
        correct = [row.item_id for row in graded if row.grade > 0]
        entry: Row = {
            "correctAnswered": correct,
            "wrongAnswered": [row.item_id for row in graded if row.grade <= 0],
            "answers": [
                [row.item_id, reply] for row in graded if (reply := self._reply(row)) is not None
            ],
            **self.head,
            "exam_ratio": len(correct) / len(best),
        }
        if self.grader["target"] != "extract":
            key = "nugget_id" if self.grader["target"] == "nugget" else "question_id"
            entry["self_ratings"] = [{key: row.item_id, "self_rating": row.grade} for row in graded]
        if failed := [row for row in best if row.grade is None]:
            entry["llm_response_errors"] = {
                row.item_id: {
                    "response": row.response or "",
                    "prompt": "",
                    "failure_reason": row.error or "no reason given",
                    "caught_exception": None,
                }
                for row in failed
            }
        return entry

    def _direct(self, row: Grade) -> Row:
        """Of `grades`. A failed grade is 0 with an error, as the workbench has it."""
        grade = row.grade or 0
        entry: Row = {
            "correctAnswered": grade > 0,
            "answer": self._reply(row) or "",
            **self.head,
            "self_ratings": grade,
        }
        if row.grade is None:
            entry["llm_response_error"] = row.error or "no reason given"
        return entry

    def _reply(self, row: Grade) -> str | None:
        if self.grader["target"] == "extract" and row.answer is not None:
            return row.answer
        if row.response is None and not self.is_plain and row.grade is not None:
            return str(row.grade)  # the workbench cannot do without replies
        return row.response


def paragraph(
    passage_id: str,
    text: str,
    judgments: list[Row],
    rankings: str,
    by_grader: dict[str, list[Grade]],
    wholes: Wholes,
    graders: dict[str, GraderEntry],
    beside: Row,
) -> str:
    """A paragraph of the file. `rankings` are JSON, grades are in order of their items; `beside` is
    what files brought along of it (`beside_rows`)."""
    text_hash = sha256(text) if text.strip() else None
    labels = _labels_of_others(by_grader, graders, text_hash)
    exam: list[str] = []
    direct: list[str] = []
    for grader_id, rows in sorted(
        by_grader.items(), key=lambda of: (graders[of[0]].grader["name"], of[0])
    ):
        grader = graders[grader_id]
        label = labels.get(grader.key)
        if grader.is_label and label is not None:
            continue
        of_file = beside.get("entries", {}).get(grader_id, {})
        written = direct if grader.is_direct else exam
        written.append(grader.entry(rows, wholes, text_hash, label, of_file))
    data = {"judgments": as_json(judgments), "rankings": rankings} | _texts(beside.get("data", {}))
    value = _texts({"paragraph_id": passage_id, "text": text})
    value["paragraph_data"] = _object(data)
    value |= _texts(beside.get("keys", {}))
    if exam:
        value["exam_grades"] = f"[{', '.join(exam)}]"
    if direct:
        value["grades"] = f"[{', '.join(direct)}]"
    return _object(value)


def _texts(values: Row) -> dict[str, str]:
    return {key: as_json(value) for key, value in values.items()}


def _object(texts: dict[str, str]) -> str:
    """JSON of an object, from its values' JSON."""
    return f"{{{', '.join(f'{as_json(key)}: {text}' for key, text in texts.items())}}}"


def _labels_of_others(
    by_grader: dict[str, list[Grade]], graders: dict[str, GraderEntry], text_hash: str | None
) -> dict[Any, int]:
    """`key` of graders -> the label that stands in their entry, not in one of its own."""
    entered = {graders[grader_id].key for grader_id in by_grader if graders[grader_id].is_plain}
    return {
        graders[grader_id].key: rows[0].grade
        for grader_id, rows in by_grader.items()
        if graders[grader_id].is_label
        and graders[grader_id].key in entered
        and [row.passage_sha256 for row in rows] == [text_hash]
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


def _one_per_item(rows: list[Grade], text_hash: str | None) -> list[Grade]:
    """Each item's grade: of the text that the file shows if there is one, else the newest."""

    def merit(row: Grade) -> tuple:
        return row.passage_sha256 in (None, text_hash), row.since

    by_item = groupby(rows, attrgetter("item_id"))
    return [max(of_item, key=merit) for _, of_item in by_item]
