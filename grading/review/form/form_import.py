"""`gradelake import reviews`: what an assessor answered in a form becomes reviews of the lake."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from gradelake.grading.plan.planner import ensure_views
from gradelake.grading.review.cards import VIEWS, Reviewable, find_grader
from gradelake.grading.review.form.answers import Answers, FormAnswer, read_answers
from gradelake.grading.review.queue_request import labels_of
from gradelake.grading.review.queue_sources import POOL
from gradelake.grading.review.revise import Answer, ReviewKey
from gradelake.grading.review.verdicts import put_answers
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import SHOWN, Problem, Problems
from gradelake.sql.common.quoting import shell_word
from gradelake.sql.lake.judged import mark_as_own
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import Transaction

# each answer with the grader's grade of today
_GRADES_OF_ANSWERS = """
    with

    grades as ({grades})

    select
        answers.place,
        case
            when queries.query_id is null then 'the lake has no such query'
            when sha256(queries.text) != answers.query_sha256 then 'the query was changed since'
            when passages.passage_id is null then 'the lake has no such passage'
            when passages.text_sha256 != answers.passage_sha256
                then 'the passage was changed since'
            when grades.grade is null then 'the lake has no grade of it'
        end as why_not,
        grades.passage_sha256,
        grades.query_sha256,
        grades.grade
    from answers
    left join grades using (query_id, passage_id, item_id)
    left join lake.raw.queries as queries
        on queries.collection = $collection and answers.query_id = queries.query_id
    left join lake.raw.passages as passages
        on passages.collection = $collection and answers.passage_id = passages.passage_id
    order by answers.place
"""
_GRADES = """
    select *
    from lake.intermediate.int_grades_in_force
    where collection = $collection and grader_id = $grader_id and grade is not null
    qualify 1 = row_number() over (
        partition by query_id, passage_id, item_id order by graded_at desc
    )
"""
# of the pool, which nothing has graded: each answer is beside itself
_OWN = """
    select query_id, passage_id, item_id, null as passage_sha256, null as query_sha256, grade
    from answers
"""
# of a form that asks for judgments
_LABELS = """
    select
        query_id,
        passage_id,
        '' as item_id,
        null as passage_sha256,
        null as query_sha256,
        label as grade
    from lake.marts.relevance_labels
    where collection = $collection and label_set = $label_set
"""


@dataclass
class Imported:
    """What an import did; `snapshot` is None when there was nothing new.

    `written` of the answers are reviews now, `revised` of these took the place of one; `known` were
    there, `older` are older than the assessor's review in the lake, which stays.
    """

    collection: str
    file: str
    grader: str = ""
    assessor: str = ""
    answers: int = 0
    written: int = 0
    revised: int = 0
    known: int = 0
    older: int = 0
    left_out: list[str] = field(default_factory=list)
    snapshot: int | None = None

    @property
    def exit_code(self) -> int:
        """0 done; 3 some answers are of texts or grades that are not in the lake any more."""
        return 3 if self.left_out else 0

    def notes(self) -> list[str]:
        """What a person should know, a sentence each."""
        notes = []
        if self.older:
            notes.append(f"{counted(self.older, 'answers', 'are')} older than the lake's; left out")
        notes += [f"{each}; left out" for each in self.left_out[:SHOWN]]
        if self.left_out[SHOWN:]:
            notes.append(f"and {len(self.left_out) - SHOWN:,} more like these")
        return notes

    def as_object(self) -> dict[str, Any]:
        return {**vars(self), "warnings": self.notes()}


def import_reviews(lake: Lake, collection: str, path: Path, arguments: list[str]) -> Imported:
    """Store a form's answers as blind reviews in one commit.

    Answers whose query, passage or grade is not the lake's any more are left out and named; the
    others land. Raises `BadInput` for an unknown collection or grader and a file of another
    collection, and `Rejected` for a file that was changed or damaged; then nothing is written.
    """
    shown = str(path)
    lake.require_collection(collection)
    content, answers = read_answers(path, shown)
    if content.collection != collection:
        raise BadInput(
            f"{shown}: the answers are of collection {content.collection!r}, not {collection!r}",
            f"gradelake import reviews {shell_word(content.collection)} {shell_word(shown)}",
        )
    ensure_views(lake, VIEWS)
    grader = _grader_of(lake, content, shown)
    problems = Problems(shown, "Import the file as the browser saved it.")
    scale = f"{grader.scale_min} to {grader.scale_max}"
    for n, answer in enumerate(answers, start=1):
        if answer.grade not in grader.scale:
            problems.add(None, f"answer {n}: grade {answer.grade} is not of the scale, {scale}")
    problems.raise_if_any()
    done = Imported(collection, shown, grader.name, content.assessor, len(answers))
    with lake.transaction("import", f"reviews {collection} {content.assessor}") as transaction:
        if grader.kind == "pair":
            mark_as_own(transaction, collection, content.assessor)
        _write(transaction, content, grader, answers, done)
        if not done.written:
            return done
        transaction.say(reviews=done.written)
        transaction.finish_run(arguments)
    done.snapshot = lake.newest_snapshot()
    return done


def _grader_of(lake: Lake, content: Answers, shown: str) -> Reviewable:
    """Whose grades, or labels, a form's answers are about."""
    if not content.grader_id:
        return labels_of(lake, content.collection, content.grader)
    names = lake.column(
        "select grader from lake.intermediate.int_own_graders where grader_id = ?",
        content.grader_id,
    )
    if not names:
        raise BadInput(
            f"{shown}: the lake has no grades of the grader that the form was made for, "
            f"{content.grader!r} with the id {content.grader_id!r}",
            "Import it into the lake that the form came from.",
        )
    return find_grader(lake, names[0])


def _write(
    transaction: Transaction,
    content: Answers,
    grader: Reviewable,
    answers: list[FormAnswer],
    done: Imported,
) -> None:
    """Write reviews for those answers whose texts and grade are still in the lake; count all."""
    if not answers:
        return
    rows = [{"place": n, **vars(answer)} for n, answer in enumerate(answers)]
    grades, about = _GRADES, {"grader_id": grader.grader_id}
    of_pool = grader.name == POOL
    if of_pool:
        grades, about = _OWN, {}
    elif grader.kind == "pair":
        grades, about = _LABELS, {"label_set": grader.name}
    with transaction.lake.registered("answers", pl.DataFrame(rows, infer_schema_length=None)):
        found = transaction.lake.objects(
            _GRADES_OF_ANSWERS.format(grades=grades), collection=content.collection, **about
        )
    now = utc_now()
    arrived = []
    for given, beside in zip(answers, found, strict=True):
        if beside["why_not"]:
            card = "query {!r}, passage {!r}, item {!r}".format(*given.card)
            words = f"answer {beside['place'] + 1} ({card}): {beside['why_not']}"
            done.left_out.append(str(Problem(done.file, None, words)))
            continue
        hashes = beside["passage_sha256"], beside["query_sha256"]
        key = ReviewKey(
            grader.grader_id, content.collection, *given.card, *hashes, content.assessor
        )
        at = min(given.time, now)  # a clock may be ahead
        values = (beside["grade"], given.grade, given.note, given.seconds)
        arrived.append((key, Answer(*values, is_blind=not of_pool, at=at)))
    changes = put_answers(transaction, arrived)
    for (_, answer), change in zip(arrived, changes, strict=True):
        done.written += change.is_one
        done.revised += bool(change.is_one and change.before)
        if not change.is_one:
            known = change.after and change.after.answers(answer)
            done.known += bool(known)
            done.older += not known
