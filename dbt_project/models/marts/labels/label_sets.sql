{{ config(materialized='table') }}

with

label_sets as (
    select
        collection,
        label_set,
        count(*) as n_labels
    from {{ ref('int_labels') }}
    group by all
),

rubric_sizes as (
    select
        part as variant,
        max(n_items) as n_items
    from {{ ref('int_passage_grades') }}
    group by all
),

rubric_label_sets as (
    select
        rubrics.collection,
        rubrics.grader || '/v' || rubrics.rubric_version || '/' || policies.policy as label_set,
        rubrics.grader,
        rubrics.rubric_version,
        policies.policy,
        max(rubric_sizes.n_items) as n_items
    from {{ ref('int_rubric_variants') }} as rubrics
    inner join rubric_sizes using (variant)
    cross join {{ ref('int_label_policies') }} as policies
    group by all
)

select
    label_sets.collection,
    label_sets.label_set,
    case
        when rubric_label_sets.label_set is not null then 'rubric'
        else split_part(label_sets.label_set, ':', 1)
    end as kind,
    rubric_label_sets.grader,
    rubric_label_sets.rubric_version,
    rubric_label_sets.policy,
    label_sets.n_labels,
    case
        when policies.mapping is not null then list_max(map_values(policies.mapping))
        when policies.rule = 'count_at_least' then rubric_label_sets.n_items
        when starts_with(label_sets.label_set, 'clicks:')
            then (select max(cast(label as integer)) from {{ ref('click_bins') }})
        when policies.rule = 'sum' then rubric_label_sets.n_items * graders.scale_max
        when graders.is_on_judgments_scale then collections.max_relevance
        else coalesce(graders.scale_max, collections.max_relevance)
    end as max_label
from label_sets
inner join {{ source('raw', 'collections') }} as collections using (collection)
left join rubric_label_sets using (collection, label_set)
left join {{ ref('int_label_policies') }} as policies using (policy)
left join {{ ref('graders') }} as graders
    on
        coalesce(rubric_label_sets.grader, regexp_extract(label_sets.label_set, '^judge:(.*)$', 1))
        = graders.grader
union all by name
-- they score answers, and label no passages
select * exclude (n_wanted) rename (n_graded as n_labels)
from {{ ref('int_answer_label_sets') }}
