"""One paragraph's grades in the workbench's file: its entries in `exam_grades` and `grades`."""

import json
from collections import Counter
from collections.abc import Collection
from typing import Any

import polars as pl

from gradelake.grading.exchange.beside_rows import of_entry
from gradelake.grading.exchange.workbench import (
    GRADES,
    RATING_MAX,
    as_grades,
    imported_grader,
    is_bare_digit,
    published_status,
)
from gradelake.grading.exchange.workbench_values import (
    answers_of,
    error_of,
    errors_of,
    ids_of,
    restored_grade,
    restored_grader,
    target_of,
    text_of,
    the,
    whole,
)
from gradelake.grading.prompts.parsers import PARSERS
from gradelake.grading.prompts.reply import Reading
from gradelake.grading.prompts.scale import Scale
from gradelake.sql.common.clock import utc_now


class Entries:
    """Reads entries into rows of `COMMON` columns; counts what is odd in `counts`."""

    def __init__(self, raters: Collection[str], prefix: str | None):
        self.raters, self.prefix, self.now = raters, prefix, utc_now()
        self.counts: Counter[str] = Counter()
        self.graders: dict[str, dict[str, Any]] = {}
        self.restored: set[str] = set()  # graders that the file describes whole
        self.rows: list[tuple] = []
        self.whole_rows: list[dict[str, Any]] = []  # from `gradelake` objects
        self._known: dict[str, str] = {}  # what an entry says of its grader -> grader_id
        self._paper: dict[str, Reading] = {}  # reply -> what the papers' rule reads in it
        self._scale = Scale.parse(f"0-{RATING_MAX}")

    def take(self) -> list[pl.DataFrame]:
        """The rows read since the last call, as frames."""
        frames = [as_grades(self.rows, self.now)] if self.rows else []
        if self.whole_rows:
            frames.append(pl.DataFrame(self.whole_rows, schema=GRADES))
        self.rows, self.whole_rows = [], []
        return frames

    def paragraph(
        self, query_id: str, passage_id: str, text_hash: str | None, paragraph: dict[str, Any]
    ) -> dict[str, dict[str, Any]]:
        """Read a paragraph's entries: grader_id -> what its entry holds beside the rows. Raises
        `Fault`."""
        beside: dict[str, dict[str, Any]] = {}
        for where, read in (("exam_grades", self._exam), ("grades", self._direct)):
            for entry in the(list, paragraph.get(where) or [], where):
                entry = the(dict, entry, f"entry of {where}")
                self._of = (query_id, passage_id)
                self._hash = text_hash
                n_before = len(self.rows)
                read(entry)
                graded: dict[str, list[int | None]] = {}
                for grader_id, *_, grade in (row[:5] for row in self.rows[n_before:]):
                    graded.setdefault(grader_id, []).append(grade)
                for grader_id, grades in graded.items():
                    parser = self.graders[grader_id]["parser"]
                    if parser != "label":  # a label stands in the entry of others
                        found = of_entry(entry, grades, where == "grades", parser == "paper")
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
        self.rows.append(
            (grader_id, *self._of, item_id, grade, status, answer, response, error, self._hash)
        )

    # --- what an entry says of its grader -----------------------------------------------------

    def _grader(self, entry: dict[str, Any], target: str, parser: str = "published") -> str:
        """The grader's id; it is entered in `graders` when it is new."""
        says = {key: entry.get(key) for key in ("llm_options", "prompt_info", "prompt_type")}
        says["llm_options"] = says["llm_options"] or {}
        known = json.dumps([entry.get("llm"), says, target, parser], sort_keys=True)
        if known in self._known:
            return self._known[known]
        options = the(dict, says["llm_options"], "llm_options")
        if "gradelake" in options:
            grader = restored_grader(the(dict, options["gradelake"], "llm_options.gradelake"))
            self.restored.add(grader["grader_id"])
            self.graders[grader["grader_id"]] = grader
        else:
            info = the(dict, says["prompt_info"] or {}, "prompt_info")
            template = options.get("prompt_template")
            grader = imported_grader(
                model=the(str, entry.get("llm"), "llm"),
                prompt=the(str, info.get("prompt_class") or "", "prompt_class"),
                prompt_text=template if isinstance(template, str) else None,
                target=target,
                parser=parser,
                settings={"workbench": {k: v for k, v in says.items() if v is not None}},
                prefix=self.prefix,
            ) | {"created_at": self.now}
        self.graders.setdefault(grader["grader_id"], grader)
        self._known[known] = grader["grader_id"]
        return grader["grader_id"]

    def _is_whole(self, entry: dict[str, Any], grader_id: str) -> bool:
        """Read an entry's `gradelake` object, if it has one: the lake's rows as they were."""
        if entry.get("gradelake") is None:
            return False
        extra = the(dict, entry["gradelake"], "gradelake")
        for row in the(list, extra.get("grades"), "gradelake.grades"):
            row = restored_grade(the(dict, row, "grade in gradelake.grades"))
            query_id, passage_id = self._of
            row |= {"grader_id": grader_id, "query_id": query_id, "passage_id": passage_id}
            self.whole_rows.append({"graded_at": self.now} | row)
        return True

    # --- exam_grades --------------------------------------------------------------------------

    def _exam(self, entry: dict[str, Any]) -> None:
        info = entry.get("prompt_info") or {}
        ratings = the(list, entry.get("self_ratings") or [], "self_ratings")
        is_rated = bool(ratings) or (isinstance(info, dict) and info.get("is_self_rated") is True)
        target = target_of(entry, ratings) if is_rated else "extract"
        grader_id = self._grader(entry, target)
        self._label(entry, grader_id)
        if self._is_whole(entry, grader_id):
            return
        answers = answers_of(entry)
        errors, nameless = errors_of(entry.get("llm_response_errors"))
        self.counts["errors_without_item"] += nameless
        correct = set(ids_of(entry, "correctAnswered"))
        wrong = ids_of(entry, "wrongAnswered")
        if is_rated:
            self._rated(entry, grader_id, target, ratings, answers, errors, correct, wrong)
        else:
            for item_id in dict.fromkeys([*answers, *sorted(correct), *wrong]):
                if item_id not in errors:
                    text = answers.get(item_id)
                    self._add(grader_id, item_id, int(item_id in correct), "ok", text, text)
            self._failed(grader_id, errors)

    def _rated(self, entry, grader_id, target, ratings, answers, errors, correct, wrong) -> None:
        is_restored = grader_id in self.restored
        paper_id = None
        if "paper" in self.raters and not is_restored:
            paper_id = self._grader(entry, target, "paper")
        takes_ratings = "published" in self.raters or is_restored
        rated: set[str] = set()
        for rating in ratings:
            rating = the(dict, rating, "self rating")
            item_id = text_of(
                rating.get("question_id") or rating.get("nugget_id"), "question_id or nugget_id"
            )
            if item_id in errors:
                continue
            rated.add(item_id)
            grade = whole(rating.get("self_rating"), f"self_rating of {item_id}")
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
        for item_id in dict.fromkeys([*answers, *sorted(correct), *wrong]):
            if item_id not in rated and item_id not in errors:
                errors[item_id] = ("the file has no rating", answers.get(item_id))
        if takes_ratings:
            self._failed(grader_id, errors)
        if paper_id:
            self._failed(paper_id, errors)

    def _read_anew(self, grader_id: str, item_id: str, reply: str | None) -> None:
        """The grade that the papers' rule gives to a reply."""
        if reply is None:
            self._add(grader_id, item_id, None, "failed", error="the file has no reply")
            return
        if reply not in self._paper:
            self._paper[reply] = PARSERS["paper"].read(reply, self._scale)
        read = self._paper[reply]
        self._add(grader_id, item_id, read.grade, read.status, read.answer, reply, read.error)

    def _failed(self, grader_id: str, errors: dict[str, tuple[str, str | None]]) -> None:
        for item_id, (reason, response) in errors.items():
            self._add(grader_id, item_id, None, "failed", None, response, reason)

    def _label(self, entry: dict[str, Any], of: str) -> None:
        """A passage's `relevance_label` is a direct grade, by a grader named after the entry's."""
        if entry.get("relevance_label") is not None:
            label = whole(entry["relevance_label"], "relevance_label")
            if of not in self.restored:
                self._add(self._grader(entry, "direct", "label"), "", label, "ok")

    # --- grades -------------------------------------------------------------------------------

    def _direct(self, entry: dict[str, Any]) -> None:
        grader_id = self._grader(entry, "direct")
        self._label(entry, grader_id)
        if self._is_whole(entry, grader_id):
            return
        answer = the(str, entry.get("answer") or "", "answer")
        if error := entry.get("llm_response_error"):
            reason, response = error_of(error)
            self._add(grader_id, "", None, "failed", None, response or answer or None, reason)
            return
        correct = the(bool, entry.get("correctAnswered"), "correctAnswered")
        grade = int(correct)
        if entry.get("self_ratings") is not None:
            grade = whole(entry["self_ratings"], "self_ratings")
            self.counts["marked_unlike_rated"] += correct != (grade > 0)
        self._add(grader_id, "", grade, "ok", answer, answer)
