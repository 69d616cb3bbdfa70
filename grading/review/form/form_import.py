"""`gradelake import reviews`: what an assessor answered in a form becomes reviews of the lake."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradelake.grading.review.cards import Reviewable, find_grader
from gradelake.grading.review.form.answers import Answer, Answers, read_answers
from gradelake.grading.review.queue_wish import labels_of
from gradelake.grading.review.verdicts import put_rows
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import SHOWN, Problem, Problems
from gradelake.sql.lake.judged import mark_as_own
from gradelake.sql.lake.lake import Lake
from gradelake.sql.lake.transaction import Transaction

# each answer with what it was given for, the grader's grade of today, and what the assessor has
# said of that already
_BESIDE_ANSWERS = """
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
        grades.grade,
        reviews.grade as grade_before,
        coalesce(reviews.own_grade, case reviews.verdict when 'agree' then reviews.grade end)
            as said_before,
        reviews.note as note_before,
        reviews.blind_grade as blind_before,
        reviews.settles,
        reviews.reviewed_at as reviewed_before
    from answers
    left join lake.raw.queries as queries
        on queries.collection = $collection and answers.query_id = queries.query_id
    left join lake.raw.passages as passages
        on passages.collection = $collection and answers.passage_id = passages.passage_id
    left join grades
        on
            answers.query_id = grades.query_id
            and answers.passage_id = grades.passage_id
            and answers.item_id = grades.item_id
    left join lake.raw.grade_reviews as reviews
        on
            reviews.collection = $collection
            and reviews.grader_id = $grader_id
            and reviews.assessor = $assessor
            and grades.query_id = reviews.query_id
            and grades.passage_id = reviews.passage_id
            and grades.item_id = reviews.item_id
            and grades.passage_sha256 is not distinct from reviews.passage_sha256
            and grades.query_sha256 is not distinct from reviews.query_sha256
    order by answers.place
"""
_OF_LAKE = ("passage_sha256", "query_sha256", "grade", "settles")
_GRADES = """
    select *
    from lake.intermediate.int_grades_in_force
    where collection = $collection and grader_id = $grader_id and grade is not null
    qualify 1 = row_number() over (
        partition by query_id, passage_id, item_id order by graded_at desc
    )
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
        said = []
        if self.older:
            said.append(f"{counted(self.older, 'answers', 'are')} older than the lake's; left out")
        said += [f"{each}; left out" for each in self.left_out[:SHOWN]]
        if self.left_out[SHOWN:]:
            said.append(f"and {len(self.left_out) - SHOWN:,} more like these")
        return said


def import_reviews(
    lake: Lake, collection: str, path: Path, arguments: list[str], ready: Callable[[], None]
) -> Imported:
    """Store a form's answers as blind reviews in one commit. `ready` makes dbt's views of the lake.

    Answers whose query, passage or grade is not the lake's any more are left out and named; the
    others land. Raises `BadInput` for an unknown collection or grader and a file of another
    collection, and `Rejected` for a file that was changed or damaged; then nothing is written.
    """
    shown = str(path)
    lake.require_collection(collection)
    whole, answers = read_answers(path, shown)
    if whole.collection != collection:
        raise BadInput(
            f"{shown}: the answers are of collection {whole.collection!r}, not {collection!r}",
            f"gradelake import reviews {whole.collection} {shown}",
        )
    ready()
    grader = _grader_of(lake, whole, shown)
    _check_grades(answers, grader, shown)
    done = Imported(collection, shown, grader.name, whole.assessor, len(answers))
    with lake.transaction("import", f"reviews {collection} {whole.assessor}") as transaction:
        if grader.kind == "pair":
            mark_as_own(transaction, collection, whole.assessor)
        _write(transaction, whole, grader, answers, done)
        if not done.written:
            return done
        transaction.say(reviews=done.written)
        transaction.finish_run(arguments)
    done.snapshot = lake.newest_snapshot()
    return done


def _grader_of(lake: Lake, whole: Answers, shown: str) -> Reviewable:
    """Whose grades, or labels, a form's answers are about."""
    if not whole.grader_id:
        return labels_of(lake, whole.collection, whole.grader)
    names = lake.column(
        "select grader from lake.intermediate.int_own_graders where grader_id = ?", whole.grader_id
    )
    if not names:
        raise BadInput(
            f"{shown}: the lake has no grades of the grader that the form was made for, "
            f"{whole.grader!r} with the id {whole.grader_id!r}",
            "Import it into the lake that the form came from.",
        )
    return find_grader(lake, names[0])


def _check_grades(answers: list[Answer], grader: Reviewable, shown: str) -> None:
    scale = f"{grader.scale_min} to {grader.scale_max}"
    problems = Problems(shown, "Import the file as the browser saved it.")
    for n, answer in enumerate(answers, start=1):
        if answer.grade not in grader.scale:
            problems.add(None, f"answer {n}: grade {answer.grade} is not of the scale, {scale}")
    problems.raise_if_any()


def _write(
    transaction: Transaction,
    whole: Answers,
    grader: Reviewable,
    answers: list[Answer],
    done: Imported,
) -> None:
    import polars as pl

    now = utc_now()
    connection = transaction.lake.connection
    rows = [{"place": n, **answer.row()} for n, answer in enumerate(answers)]
    if not rows:
        return
    key = {
        "collection": whole.collection,
        "grader_id": grader.grader_id,
        "assessor": whole.assessor,
    }
    connection.register("answers", pl.DataFrame(rows, infer_schema_length=None))
    try:
        if grader.kind == "pair":
            query, more = _BESIDE_ANSWERS.format(grades=_LABELS), {"label_set": grader.name}
        else:
            query, more = _BESIDE_ANSWERS.format(grades=_GRADES), {}
        beside = transaction.lake.objects(query, **key, **more)
    finally:
        connection.unregister("answers")
    fresh = []
    for row, found in zip(rows, beside, strict=True):
        if found["why_not"]:
            card = "query {query_id!r}, passage {passage_id!r}, item {item_id!r}".format_map(row)
            said = f"answer {row['place'] + 1} ({card}): {found['why_not']}"
            done.left_out.append(str(Problem(done.file, None, said)))
        elif review := _review(row, found, done, now):
            fresh.append(key | review)
    done.written = put_rows(transaction, fresh)


def _review(
    row: dict[str, Any], found: dict[str, Any], done: Imported, now: Any
) -> dict[str, Any] | None:
    """The review that an answer becomes; None where the lake has it, or a newer one."""
    reviewed_at = min(row["answered_at"], now)  # a clock may be ahead
    own, grade, before = row["grade"], found["grade"], found["reviewed_before"]
    is_same = (found["grade_before"], found["said_before"], found["note_before"]) == (
        grade,
        own,
        row["note"],
    )
    if before and is_same:
        done.known += 1
        return None
    if before and before > reviewed_at:
        done.older += 1
        return None
    done.revised += before is not None
    agrees = own == grade
    return {
        **{column: row[column] for column in ("query_id", "passage_id", "item_id")},
        **{column: found[column] for column in _OF_LAKE},
        "verdict": "agree" if agrees else "disagree",
        "own_grade": None if agrees else own,
        "note": row["note"],
        # what was said first, if anything, stays; after an open review nothing is blind
        "blind_grade": found["blind_before"] if before else own,
        "seconds": row["seconds"],
        "reviewed_at": reviewed_at,
    }
