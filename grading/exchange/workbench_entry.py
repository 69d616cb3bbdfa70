"""One paragraph's grades in the workbench's file: its entries in `exam_grades` and `grades`."""

import json
from typing import Any

from gradelake.grading.exchange.beside_rows import of_entry
from gradelake.grading.exchange.file_import import FileImport
from gradelake.grading.exchange.workbench import (
    GRADE_COLUMNS,
    RATING_MAX,
    imported_grader,
    is_bare_digit,
    published_status,
)
from gradelake.grading.exchange.workbench_format import (
    DirectEntry,
    Entry,
    ExamEntry,
    Fault,
    Paragraph,
)
from gradelake.grading.prompts.parsers import PARSERS
from gradelake.grading.prompts.reply import Reading
from gradelake.grading.prompts.scale import Scale


class Entries:
    """Reads entries into grades of a file that is brought in."""

    def __init__(self, into: FileImport):
        # whose ratings count: `published` (the file's own), those that the papers' rule reads in
        # its replies (`paper`), or both
        self.rater, self.prefix = into.choices.rater, into.choices.name
        self.into, self.now, self.counts, self.graders = into, into.now, into.seen, into.graders
        self.restored: set[str] = set()  # graders that the file describes whole
        self._graded: dict[str, list[int | None]] = {}  # of one entry, by grader
        self._known: dict[str, str] = {}  # what an entry says of its grader -> grader_id
        self._paper: dict[str, Reading] = {}  # reply -> what the papers' rule reads in it
        self._scale = Scale.parse(f"0-{RATING_MAX}")

    def paragraph(
        self, query_id: str, text_hash: str | None, paragraph: Paragraph, raw: dict[str, Any]
    ) -> dict[str, dict[str, Any]]:
        """Read a paragraph's entries, `raw` as the file has them: grader_id -> what its entry holds
        beside the rows. Raises `Fault`."""
        beside: dict[str, dict[str, Any]] = {}
        self._of, self._hash = (query_id, paragraph.paragraph_id), text_hash
        for where, entries in (
            ("exam_grades", paragraph.exam_grades),
            ("grades", paragraph.grades),
        ):
            for entry, as_given in zip(entries, raw.get(where) or [], strict=True):
                self._graded = {}
                if isinstance(entry, ExamEntry):
                    self._exam(entry, as_given)
                elif isinstance(entry, DirectEntry):
                    self._direct(entry, as_given)
                for grader_id, grades in self._graded.items():
                    parser = self.graders[grader_id]["parser"]
                    if parser != "label":  # a label stands in the entry of others
                        found = of_entry(as_given, grades, where == "grades", parser == "paper")
                        beside.setdefault(grader_id, found)
        return beside

    def _add(
        self,
        grader_id: str,
        item_id: str,
        grade: int | None,
        status: str,
        answer: str | None = None,
        response: str | None = None,
        error: str | None = None,
    ) -> None:
        self._graded.setdefault(grader_id, []).append(grade)
        row = (grader_id, *self._of, item_id, grade, status, answer, response, error)
        self.into.put("grades", *row, self._hash)

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
        if entry.llm_options and entry.llm_options.gradelake:
            grader = entry.llm_options.gradelake.model_dump()
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

    def _restored(self, entry: Entry, grader_id: str) -> bool:
        """Read an entry's `gradelake` object, if it has one: the lake's rows as they were."""
        if entry.gradelake is None:
            return False
        query_id, passage_id = self._of
        key = {"grader_id": grader_id, "query_id": query_id, "passage_id": passage_id}
        for row in entry.gradelake.grades:
            values = {"graded_at": self.now} | row.model_dump(exclude_none=True) | key
            self.into.put("restored", *map(values.get, GRADE_COLUMNS))
        return True

    def _label(self, entry: Entry, raw: dict[str, Any], of: str) -> None:
        """A passage's `relevance_label` is a direct grade, by a grader named after the entry's."""
        if entry.relevance_label is not None and of not in self.restored:
            self._add(self._grader(entry, raw, "direct", "label"), "", entry.relevance_label, "ok")

    # --- exam_grades --------------------------------------------------------------------------

    def _exam(self, entry: ExamEntry, raw: dict[str, Any]) -> None:
        grader_id = self._grader(entry, raw, entry.target)
        self._label(entry, raw, grader_id)
        if self._restored(entry, grader_id):
            return
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
                    self._add(grader_id, item_id, int(item_id in entry.correct), "ok", text, text)
        for each in graders:
            for item_id, (reason, response) in errors.items():
                self._add(each, item_id, None, "failed", None, response, reason)

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
                raise Fault(f"self_rating of {item_id} is missing, not a whole number")
            reply = answers.get(item_id)
            if reply is not None:
                self.counts["replies"] += 1
                self.counts["replies_no_bare_digit"] += not is_bare_digit(reply)
            self.counts["marked_unlike_rated"] += (item_id in correct) != (grade > 0)
            if takes_ratings:
                status = published_status(grade, reply)
                self._add(grader_id, item_id, grade, status, None, reply)
            if paper_id:
                self._read_anew(paper_id, item_id, reply)
        return [each for each in (takes_ratings and grader_id, paper_id) if each]

    def _read_anew(self, grader_id: str, item_id: str, reply: str | None) -> None:
        """The grade that the papers' rule gives to a reply."""
        if reply is None:
            self._add(grader_id, item_id, None, "failed", error="the file has no reply")
            return
        if reply not in self._paper:
            self._paper[reply] = PARSERS["paper"].read(reply, self._scale)
        read = self._paper[reply]
        self._add(grader_id, item_id, read.grade, read.status, read.answer, reply, read.error)

    # --- grades -------------------------------------------------------------------------------

    def _direct(self, entry: DirectEntry, raw: dict[str, Any]) -> None:
        grader_id = self._grader(entry, raw, "direct")
        self._label(entry, raw, grader_id)
        if self._restored(entry, grader_id):
            return
        answer = entry.answer or ""
        if entry.error:
            reason, response = entry.error
            self._add(grader_id, "", None, "failed", None, response or answer or None, reason)
            return
        if entry.correct is None:
            raise Fault("correctAnswered is missing, not true or false")
        grade = int(entry.correct)
        if entry.self_ratings is not None:
            grade = entry.self_ratings
            self.counts["marked_unlike_rated"] += entry.correct != (grade > 0)
        self._add(grader_id, "", grade, "ok", answer, answer)
