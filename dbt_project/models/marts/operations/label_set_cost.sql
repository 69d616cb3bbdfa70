with

grader_items as (
    select distinct
        collection,
        grader,
        rubric_version,
        query_id,
        item_id
    from {{ ref('grader_items') }}
),

graded_sets as (
    select
        collection,
        label_set,
        rubric_version,
        coalesce(grader, regexp_extract(label_set, '^judge:(.*)$', 1)) as grader
    from {{ ref('label_sets') }}
),

costs as (
    select
        graded_sets.collection,
        graded_sets.label_set,
        grading_cost.n_pairs,
        grading_cost.cost,
        grading_cost.currency
    from graded_sets
    inner join {{ ref('grading_cost') }} as grading_cost using (collection, grader)
    left join grader_items
        using (collection, grader, rubric_version, query_id, item_id)
    where graded_sets.rubric_version is null or grader_items.item_id is not null
)

select
    collection,
    label_set,
    cast(sum(n_pairs) as bigint) as n_pairs,
    case when bool_and(cost is not null) then round(sum(cost), 10) end as cost,
    any_value(currency) as currency
from costs
group by all
