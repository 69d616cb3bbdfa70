with

label_sets as (
    select
        rubrics.*,
        policies.*,
        rubrics.grader || '/v' || rubrics.rubric_version || '/' || policies.policy as label_set
    from {{ ref('int_rubric_variants') }} as rubrics
    cross join {{ ref('int_label_policies') }} as policies
),

labels as (
    select
        label_sets.*,
        passages.passage_id,
        passages.n_items,
        passages.n_items - len(passages.grades) as n_missing,
        case label_sets.rule
            when 'best' then passages.grades[1]
            when 'mth_best' then coalesce(passages.grades[label_sets.m], 0)
            when 'count_at_least'
                then len([grade for grade in passages.grades if grade >= label_sets.tau])
            when 'sum' then list_sum(passages.grades)
        end as label
    from {{ ref('int_passage_grades') }} as passages
    inner join label_sets on passages.part = label_sets.variant
)

select
    collection,
    grader,
    rubric_version,
    policy,
    label_set,
    query_id,
    passage_id,
    cast({{ renamed('label', 'mapping') }} as integer) as label,
    n_items,
    n_missing
from labels
