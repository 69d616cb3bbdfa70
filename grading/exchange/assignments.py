"""Which nuggets of the rubric answers hold, as `nuggetizer assign` writes it: read, and written."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from gradelake.grading.exchange.file_import import FileImport
from gradelake.grading.exchange.workbench import imported_grader
from gradelake.grading.exchange.workbench_format import TEXT, LineFault, Object, Text, checked
from gradelake.sql.common import console, files
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.opening import Lake

NUGGETS = "intermediate.int_distinct_items"  # the view that they are read from
LABELS = {"support": 2, "partial_support": 1, "not_support": 0, "failed": None}
_FAILED = "failed in the file"
_ANSWERS = """
    select system, query_id, passage_id, text, text_sha256
    from lake.raw.answers
    inner join lake.raw.passages using (collection, passage_id)
    where collection = ?
"""
_NUGGETS = f"""
    select
        query_id,
        trim(item_text),
        item_id,
        max_by(weight, rubric_version),
        max(rubric_version) = max(max(rubric_version)) over ()
    from lake.{NUGGETS}
    where collection = ? and kind = 'nugget'
    group by all
"""


@dataclass(frozen=True)
class Nugget:
    """A nugget of the rubric, in any of its versions."""

    item_id: str
    is_vital: bool
    is_newest: bool  # in the newest version of the rubric


class _Nugget(Object):
    text: Text
    assignment: Literal["support", "partial_support", "not_support", "failed"]
    importance: Any = None


class _Answer(Object):
    """A line: which nuggets an answer holds."""

    run_id: Text
    answer_text: Text
    nuggets: list[_Nugget]


_ANSWER = TypeAdapter(_Answer)


class _Reader:
    def __init__(self, into: FileImport, grader_id: str):
        self.into, self.grader_id = into, grader_id
        self.first: dict[tuple[str, str], int] = {}  # the line of an answer
        self.answers = {
            (system, query_id): answer
            for system, query_id, *answer in into.lake.rows(_ANSWERS, into.collection)
        }
        self.nuggets: dict[tuple[str, str], list[Nugget]] = defaultdict(list)
        self.n_newest: Counter[str] = Counter()  # of each query
        rows = into.lake.rows(_NUGGETS, into.collection)
        for query_id, text, item_id, weight, is_newest in rows:
            self.nuggets[query_id, text].append(Nugget(item_id, weight >= 1, is_newest))
            self.n_newest[query_id] += is_newest

    def line(self, number: int, row: dict[str, Any], query_id: str) -> None:
        """Raises `LineFault` for a line that cannot be used; then nothing of it is kept."""
        if "docid" in row and "run_id" not in row:
            raise LineFault(
                "this is about a retrieved passage (docid), not about a system's answer"
            )
        answer = checked(_ANSWER, row)
        passage_id, text_sha256 = self._answer(number, answer, query_id)
        labels: dict[str, str] = {}  # item -> its assignment
        n_newest = 0
        for nugget in answer.nuggets:
            text, label = nugget.text.strip(), nugget.assignment
            found = self.nuggets.get((query_id, text))
            if not found:
                raise LineFault(f"{text!r:.80} is no nugget of the rubric of query {query_id!r}")
            for known in found:
                if labels.setdefault(known.item_id, label) != label:
                    raise LineFault(f"{text!r:.80} is there twice, with another assignment")
                n_newest += known.is_newest
            if nugget.importance in ("vital", "okay"):
                says_vital = nugget.importance == "vital"
                self.into.seen["other_importance"] += found[0].is_vital != says_vital
        self.into.seen["answers"] += 1
        self.into.seen["assignments_not_in_file"] += max(0, self.n_newest[query_id] - n_newest)
        for item_id, assigned in labels.items():
            grade = LABELS[assigned]
            status, error = ("failed", _FAILED) if grade is None else ("ok", None)
            pair = self.grader_id, query_id, passage_id, item_id
            self.into.put("grades", *pair, grade, status, None, None, error, text_sha256)

    def _answer(self, number: int, answer: _Answer, query_id: str) -> tuple[str, str]:
        """Passage id and hash of the text of the answer that a line is about."""
        system = answer.run_id
        if (known := self.answers.get((system, query_id))) is None:
            raise LineFault(f"the lake has no answer of system {system!r} to query {query_id!r}")
        if (system, query_id) in self.first:
            raise LineFault(
                f"system {system!r} on query {query_id!r} is there twice "
                f"(first on line {self.first[system, query_id]})"
            )
        self.first[system, query_id] = number
        passage_id, text, text_sha256 = known
        if answer.answer_text.split() != text.split():
            raise LineFault(
                f"system {system!r} has another answer to query {query_id!r} in the lake"
            )
        return passage_id, text_sha256


def read_assignments(into: FileImport, problems: Problems) -> None:
    """Every assignment to the answers of the collection's queries as a grade of 0 to 2; what failed
    in the file is a failed grade. Raises `BadInput` where nobody says who assigned."""
    if not (grader := into.choices.grader):
        raise BadInput(
            f"{into.shown} does not say who assigned",
            "Name the grader: --grader NAME, perhaps --model.",
        )
    imported = imported_grader(
        model=into.choices.model or grader,
        prompt="assignments",
        target="assign",
        settings={"assignments": grader, "items": "nugget"},
    ) | {"name": grader, "scale_min": 0, "scale_max": 2}
    into.graders[imported["grader_id"]] = imported
    reader = _Reader(into, imported["grader_id"])
    lines = files.lines_of(into.path, into.shown, console.progress)
    for number, row in files.json_objects(lines, problems):
        try:
            qid = row.get("qid")
            query_id = checked(TEXT, str(qid) if isinstance(qid, int) else qid, "qid")
            if into.has_query(query_id):
                reader.line(number, row, query_id)
        except LineFault as fault:
            problems.add(number, str(fault))


# --- written back ---------------------------------------------------------------------------------

# nuggets of the rubric's newest version; an assignment that is missing or failed is `failed`
_LINES = """
    with

    items as (
        select * from lake.marts.grader_items
        where collection = $1 and grader = $2 and asks_about = 'answer'
        qualify rubric_version = max(rubric_version) over ()
    ),

    assigned as (
        select
            answers.collection,
            answers.system,
            answers.query_id,
            answers.passage_id,
            list(
                {
                    'text': items.item_text,
                    'importance': if(items.weight >= 1, 'vital', 'okay'),
                    'assignment': case
                        when grades.grade is null then 'failed'
                        when grades.grade = graders.scale_max then 'support'
                        when grades.grade = graders.scale_min then 'not_support'
                        else 'partial_support'
                    end
                }
                order by items.weight desc, items.item_id
            ) as nuggets
        from lake.raw.answers as answers
        inner join items using (collection, query_id)
        inner join lake.marts.graders as graders using (grader_id)
        left join lake.intermediate.int_item_grades as grades
            using (collection, grader_id, query_id, passage_id, item_id)
        group by all
    )

    select
        queries.text as query,
        assigned.query_id as qid,
        passages.text as answer_text,
        len(regexp_split_to_array(trim(passages.text), '\\s+')) as response_length,
        assigned.system as run_id,
        assigned.nuggets
    from assigned
    inner join lake.raw.passages as passages using (collection, passage_id)
    inner join lake.raw.queries as queries using (collection, query_id)
    order by run_id, qid
"""


def export_assignments(lake: Lake, collection: str, grader: str, output: Path) -> int:
    """Write a line for each answer, by system and query; returns how many.

    Raises `BadInput` for a collection or grader without any, and a file that cannot be written.
    """
    lake.require_collection(collection)
    graders = lake.column(
        "select distinct grader from lake.marts.grader_items "
        "where collection = ? and asks_about = 'answer'",
        collection,
    )
    if grader not in graders:
        raise BadInput(
            f"{collection!r} has no assignments of a grader {grader!r} here",
            did_you_mean(
                grader,
                graders,
                "A grader whose prompt has the target assign makes them; then `gradelake build`.",
            ),
        )
    rows = lake.objects(_LINES, collection, grader)
    with whole_file(output) as stream:
        for row in rows:
            stream.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())
    return len(rows)
