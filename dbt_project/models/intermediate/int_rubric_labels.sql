with

grader_items as (
    select * from {{ ref('int_grader_items') }}
),

rubric_sizes as (
    select
        collection,
        grader_id,
        rubric_version,
        query_id,
        count(*) as n_items
    from grader_items
    group by all
),

graded_passages as (
    select
        grader_items.collection,
        grader_items.grader_id,
        grader_items.grader,
        grader_items.rubric_version,
        grader_items.query_id,
        item_grades.passage_id,
        list_reverse_sort(list(item_grades.grade)) as grades
    from {{ ref('int_item_grades') }} as item_grades
    inner join grader_items using (collection, grader_id, query_id, item_id)
    where
        item_grades.gold_sha256 is not distinct from grader_items.gold_sha256
        -- what an answer holds is a score of the answer, not a label of a passage
        and grader_items.asks_about is distinct from 'answer'
    group by all
),

labels as (
    select
        graded_passages.*,
        policies.policy,
        policies.mapping,
        case policies.rule
            when 'best' then graded_passages.grades[1]
            when 'mth_best' then coalesce(graded_passages.grades[policies.m], 0)
            when 'count_at_least'
                then len([grade for grade in graded_passages.grades if grade >= policies.tau])
            when 'sum' then list_sum(graded_passages.grades)
        end as label
    from graded_passages
    cross join {{ ref('int_label_policies') }} as policies
)

select
    labels.collection,
    labels.grader,
    labels.rubric_version,
    labels.policy,
    labels.query_id,
    labels.passage_id,
    cast({{ renamed('labels.label', 'labels.mapping') }} as integer) as label,
    rubric_sizes.n_items,
    rubric_sizes.n_items - len(labels.grades) as n_missing
from labels
inner join rubric_sizes using (collection, grader_id, rubric_version, query_id)
