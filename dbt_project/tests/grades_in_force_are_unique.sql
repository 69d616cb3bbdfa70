-- Pairs that a grader graded both on the text the passage has now and on one that nobody noted:
-- which of the two counts? Only a grader that noted some texts and others not can have any.
with

careless_graders as (
    select grader_id
    from {{ source('raw', 'grades') }}
    group by grader_id
    having count(passage_sha256) between 1 and count(*) - 1
)

select
    grades.grader_id,
    grades.collection,
    grades.query_id,
    grades.passage_id,
    grades.item_id,
    count(*) as n_rows
from {{ ref('int_grades') }} as grades
semi join careless_graders using (grader_id)
group by all
having count(*) > 1
