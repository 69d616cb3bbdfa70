"""Reads the workbench's graded JSONL into rows, a line at a time."""

import json
import sys
from functools import lru_cache
from typing import Any

from gradelake.grading.exchange.as_it_came import ENTRIES, of_paragraph
from gradelake.grading.exchange.file_import import FileImport
from gradelake.grading.exchange.workbench import (
    GRADE_COLUMNS,
    RATING_MAX,
    imported_grader,
    is_bare_digit,
    published_status,
)
from gradelake.grading.exchange.workbench_format import (
    PARAGRAPH,
    TEXT,
    DirectEntry,
    Entry,
    ExamEntry,
    LineFault,
    Paragraph,
    checked,
)
from gradelake.grading.prompts.parsers import PARSERS
from gradelake.grading.prompts.reply import Reading, failed
from gradelake.grading.prompts.scale import Scale
from gradelake.sql.common import console, files
from gradelake.sql.common.hashes import text_sha256
from gradelake.sql.common.problems import Problems

_SHAPE = "not [query_id, [paragraph, ...]]"
_SCALE = Scale.parse(f"0-{RATING_MAX}")
_SCALE_AT_LEAST = {"question": RATING_MAX, "nugget": RATING_MAX, "direct": 1, "extract": 1}


def read_graded(into: FileImport, problems: Problems) -> None:
    """Everything a graded file holds about the collection's queries.

    The paragraphs are kept as they are, their judgments and rankings where these are chosen.
    """
    reader = _Reader(into)
    # a query's line may be long
    lines = files.lines_of(into.path, into.shown, console.progress, sys.maxsize)
    for number, line in files.json_values(lines, problems):
        try:
            reader.line(line)
        except LineFault as fault:
            problems.add(number, str(fault))
    into.scale_at_least = {
        i: _SCALE_AT_LEAST[grader["target"]]
        for i, grader in into.graders.items()
        if i not in reader.restored
    }


@lru_cache(maxsize=1 << 16)
def _read_anew(reply: str | None) -> Reading:
    """What the papers' rule reads in a reply."""
    if reply is None:
        return failed("the file has no reply")
    return PARSERS["paper"].read(reply, _SCALE)


class _Reader:
    """Reads lines into rows: paragraphs, and the entries in their `exam_grades` and `grades`."""

    def __init__(self, into: FileImport):
        # whose ratings count: `published` (the file's own), those that the papers' rule reads in
        # its replies (`paper`), or both
        self.rater, self.prefix = into.choices.rater, into.choices.name
        self.into, self.now, self.counts, self.graders = into, into.now, into.seen, into.graders
        self.restored: set[str] = set()  # graders that the file describes whole
        self._of_entry: dict[str, None] = {}  # graders of one entry
        self._n_paragraphs = 0
        self._known: dict[str, str] = {}  # what an entry says of its grader -> grader_id

    def line(self, line: Any) -> None:
        """Read one query's line. Raises `LineFault` saying what is wrong with it."""
        match line:
            case [query, [*paragraphs]]:
                query_id = self._query_id(query)
            case _:
                raise LineFault(_SHAPE)
        if not self.into.has_query(query_id):
            return
        for number, paragraph in enumerate(paragraphs, start=1):
            try:
                self._paragraph(query_id, paragraph)
            except LineFault as fault:
                raise LineFault(f"paragraph {number}: {fault}") from None
            self.counts["paragraphs"] += 1

    def _query_id(self, value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            self.counts["query_ids_converted"] += 1
            return str(value)
        return checked(TEXT, value, "query_id")

    def _paragraph(self, query_id: str, raw: dict[str, Any]) -> None:
        paragraph = checked(PARAGRAPH, raw)
        passage_id, text = paragraph.paragraph_id, paragraph.text
        text_hash = text_sha256(text) if text.strip() else None
        if text_hash is None:
            self.counts["paragraphs_without_text"] += 1
        else:
            self.into.put("passages", passage_id, text, text_hash)
        self._of = query_id, passage_id
        for one in paragraph.paragraph_data.judgments:
            self.into.put("judgments", *self._of, one.assessor, one.relevance)
        for place in paragraph.paragraph_data.rankings:
            self.into.put("rankings", place.method, *self._of, place.rank, place.score)
        graders = self._entries(text_hash, paragraph, raw)
        choices = self.into.choices
        kept = json.dumps(of_paragraph(raw, graders, choices.assessor, choices.systems))
        self._n_paragraphs += 1
        self.into.put("brought_along", *self._of, kept, self._n_paragraphs)

    def _entries(
        self, text_hash: str | None, paragraph: Paragraph, raw: dict[str, Any]
    ) -> list[list[str]]:
        """Read a paragraph's entries, `raw` as the file has them: the graders of each."""
        graders = []
        self._hash = text_hash
        entries: list[ExamEntry | DirectEntry] = [*paragraph.exam_grades, *paragraph.grades]
        as_given = [each for of in ENTRIES for each in raw.get(of) or []]
        for entry, given in zip(entries, as_given, strict=True):
            self._of_entry = {}
            self._entry(entry, given)
            graders.append([*self._of_entry])
        return graders

    def _entry(self, entry: ExamEntry | DirectEntry, raw: dict[str, Any]) -> None:
        grader_id = self._grader(entry, raw, entry.target)
        if entry.relevance_label is not None and grader_id not in self.restored:
            # a direct grade of the passage, by a grader named after the entry's
            labeller = self._grader(entry, raw, "direct", "label")
            self._add(labeller, "", Reading(entry.relevance_label, "ok"))
        if entry.gradelake and not self._is_renamed(entry):  # the lake's rows as they were
            key = {"grader_id": grader_id, "query_id": self._of[0], "passage_id": self._of[1]}
            for row in entry.gradelake.grades:
                values = {"graded_at": self.now} | row.model_dump(exclude_none=True) | key
                self.into.put("restored", *map(values.get, GRADE_COLUMNS))
                self._of_entry[grader_id] = None
        elif isinstance(entry, ExamEntry):
            self._exam(entry, raw, grader_id)
        else:
            self._direct(entry, grader_id)

    def _add(self, grader_id: str, item_id: str, read: Reading, reply: str | None = None) -> None:
        self._of_entry[grader_id] = None
        pair = grader_id, *self._of, item_id
        grade = read.grade, read.status, read.answer, reply, read.error
        self.into.put("grades", *pair, *grade, self._hash)

    def _is_renamed(self, entry: Entry) -> bool:
        """Whether it says that a grader of a lake gave it, and is to be an imported one's."""
        row = entry.llm_options and entry.llm_options.gradelake
        return bool(self.prefix and row and row.engine != "imported")

    # --- what an entry says of its grader -----------------------------------------------------

    def _grader(
        self, entry: Entry, raw: dict[str, Any], target: str, parser: str = "published"
    ) -> str:
        """The grader's id; it is entered in `graders` when it is new."""
        words = {key: raw.get(key) for key in ("llm_options", "prompt_info", "prompt_type")}
        options = words["llm_options"] = words["llm_options"] or {}
        known = json.dumps([entry.llm, words, target, parser], sort_keys=True)
        if known in self._known:
            return self._known[known]
        row = entry.llm_options and entry.llm_options.gradelake
        if row and not self._is_renamed(entry):
            grader = row.model_dump()
            self.restored.add(grader["grader_id"])
            self.graders[grader["grader_id"]] = grader
        else:
            template = options.get("prompt_template")
            grader = imported_grader(
                model=entry.llm,
                prompt=(entry.prompt_info and entry.prompt_info.prompt_class) or "",
                prompt_text=template if isinstance(template, str) else None,
                target=target,
                parser=parser,
                settings={"workbench": {k: v for k, v in words.items() if v is not None}},
                prefix=self.prefix,
            ) | {"created_at": self.now}
        self.graders.setdefault(grader["grader_id"], grader)
        self._known[known] = grader["grader_id"]
        return grader["grader_id"]

    # --- exam_grades --------------------------------------------------------------------------

    def _exam(self, entry: ExamEntry, raw: dict[str, Any], grader_id: str) -> None:
        answers = dict(reversed(entry.answers))  # the first of each
        items = dict.fromkeys(
            [*(item_id for item_id, _ in entry.answers), *sorted(set(entry.correct)), *entry.wrong]
        )
        errors = {item_id: error for item_id, error in entry.errors if item_id is not None}
        self.counts["errors_without_item"] += sum(item_id is None for item_id, _ in entry.errors)
        graders = [grader_id]
        if entry.is_rated:
            graders = self._rated(entry, raw, grader_id, answers, errors)
            rated = {rating.item_id for rating in entry.self_ratings}
            for item_id in items:
                if item_id not in rated and item_id not in errors:
                    errors[item_id] = ("the file has no rating", answers.get(item_id))
        else:
            for item_id in items:
                if item_id not in errors:
                    text = answers.get(item_id)
                    is_correct = int(item_id in entry.correct)
                    self._add(grader_id, item_id, Reading(is_correct, "ok", text), text)
        for each in graders:
            for item_id, (reason, response) in errors.items():
                self._add(each, item_id, failed(reason), response)

    def _rated(
        self,
        entry: ExamEntry,
        raw: dict[str, Any],
        grader_id: str,
        answers: dict[str, str | None],
        errors: dict[str, tuple[str, str | None]],
    ) -> list[str]:
        """Read the ratings of items without errors. Returns the graders that they are for."""
        is_restored, correct = grader_id in self.restored, set(entry.correct)
        takes_ratings = self.rater != "paper" or is_restored
        paper_id = None
        if self.rater != "published" and not is_restored:
            paper_id = self._grader(entry, raw, entry.target, "paper")
        for rating in entry.self_ratings:
            item_id, grade = rating.item_id, rating.self_rating
            if item_id in errors:
                continue
            if grade is None:
                raise LineFault(f"self_rating of {item_id} is missing, not a whole number")
            reply = answers.get(item_id)
            if reply is not None:
                self.counts["replies"] += 1
                self.counts["replies_no_bare_digit"] += not is_bare_digit(reply)
            self.counts["marked_unlike_rated"] += (item_id in correct) != (grade > 0)
            if takes_ratings:
                self._add(grader_id, item_id, Reading(grade, published_status(grade, reply)), reply)
            if paper_id:
                self._add(paper_id, item_id, _read_anew(reply), reply)
        return [each for each in (takes_ratings and grader_id, paper_id) if each]

    # --- grades -------------------------------------------------------------------------------

    def _direct(self, entry: DirectEntry, grader_id: str) -> None:
        answer = entry.answer or ""
        if entry.error:
            reason, response = entry.error
            self._add(grader_id, "", failed(reason), response or answer or None)
            return
        if entry.correct is None:
            raise LineFault("correctAnswered is missing, not true or false")
        grade = int(entry.correct)
        if entry.self_ratings is not None:
            grade = entry.self_ratings
            self.counts["marked_unlike_rated"] += entry.correct != (grade > 0)
        self._add(grader_id, "", Reading(grade, "ok", answer), answer)
