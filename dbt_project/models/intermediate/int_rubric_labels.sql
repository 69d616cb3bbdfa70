with

labels as (
    select
        rubrics.*,
        policies.policy,
        policies.mapping,
        passages.passage_id,
        passages.n_items,
        passages.n_items - len(passages.grades) as n_missing,
        case policies.rule
            when 'best' then passages.grades[1]
            when 'mth_best' then coalesce(passages.grades[policies.m], 0)
            when 'count_at_least'
                then len([grade for grade in passages.grades if grade >= policies.tau])
            when 'sum' then list_sum(passages.grades)
        end as label
    from {{ ref('int_passage_grades') }} as passages
    inner join {{ ref('int_rubric_variants') }} as rubrics on passages.part = rubrics.variant
    cross join {{ ref('int_label_policies') }} as policies
)

select
    collection,
    grader,
    rubric_version,
    policy,
    query_id,
    passage_id,
    cast({{ renamed('label', 'mapping') }} as integer) as label,
    n_items,
    n_missing
from labels
