"""`gradelake export assignments`: which nuggets answers hold, as `nuggetizer assign` writes it."""

import json
from pathlib import Path

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.opening import Lake

# nuggets of the rubric's newest version; an assignment that is missing or failed is `failed`
ROWS = """
    with

    items as (
        select *
        from lake.intermediate.int_grader_items
        where
            collection = $1
            and grader = $2
            and asks_about = 'answer'
            and rubric_version = (
                select max(rubric_version) from lake.intermediate.int_grader_items
                where collection = $1 and grader = $2
            )
    ),

    assigned as (
        select
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
        inner join lake.intermediate.int_graders as graders using (grader_id)
        left join lake.intermediate.int_item_grades as grades
            on
                grades.collection = answers.collection
                and grades.grader_id = items.grader_id
                and grades.query_id = answers.query_id
                and grades.passage_id = answers.passage_id
                and grades.item_id = items.item_id
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
    inner join lake.raw.passages as passages
        on passages.collection = $1 and passages.passage_id = assigned.passage_id
    inner join lake.raw.queries as queries
        on queries.collection = $1 and queries.query_id = assigned.query_id
    order by run_id, qid
"""


def export_assignments(lake: Lake, collection: str, grader: str, output: Path) -> int:
    """Write a line for each answer, by system and query; returns how many.

    Raises `BadInput` for a collection or grader without any, and a file that cannot be written.
    """
    lake.require_collection(collection)
    graders = lake.column(
        "select distinct grader from lake.intermediate.int_grader_items "
        "where collection = ? and asks_about = 'answer'",
        collection,
    )
    if grader not in graders:
        raise BadInput(
            f"{collection!r} has no assignments of a grader {grader!r} here",
            did_you_mean(grader, graders)
            or "A grader whose prompt has the target assign makes them; then `gradelake build`.",
        )
    rows = lake.objects(ROWS, collection, grader)
    with whole_file(output) as stream:
        for row in rows:
            stream.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())
    return len(rows)
