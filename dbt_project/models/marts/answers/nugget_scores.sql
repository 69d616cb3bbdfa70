{{ config(materialized='table') }}

-- Equal to nuggetizer's calculate_nugget_scores, an assignment that failed among what is not
-- supported. A vital nugget weighs 1 or more; vital and okay are imported as 1 and 0.5.
with

totals as (
    select
        collection,
        system,
        query_id,
        grader,
        rubric_version,
        label_set,
        count(*) as n_nuggets,
        count(*) filter (where is_vital) as n_vital,
        count(held) as n_assigned,
        count(*) filter (where held = 1) as n_supported,
        count(*) filter (where held = 1 and is_vital) as n_vital_supported,
        coalesce(sum(held order by item_id), 0) as held_of_all,
        coalesce(sum(held order by item_id) filter (where is_vital), 0) as held_of_vital,
        coalesce(sum(weight order by item_id) filter (where held = 1), 0) as weight_supported,
        coalesce(sum(weight * held order by item_id), 0) as weight_held,
        -- of an answer that was not looked into at all there is no score
        if(n_assigned > 0, n_nuggets, null) as of_all,
        if(n_assigned > 0, n_vital, null) as of_vital,
        if(n_assigned > 0, nullif(sum(weight order by item_id), 0), null) as of_weight
    from {{ ref('int_answer_items') }}
    where measures = 'nuggets'
    group by all
)

select
    collection,
    system,
    query_id,
    grader,
    rubric_version,
    n_nuggets,
    n_vital,
    n_assigned,
    n_supported,
    round(if(of_vital = 0, 0, n_vital_supported / nullif(of_vital, 0)), 10) as strict_vital_score,
    round(n_supported / of_all, 10) as strict_all_score,
    round(if(of_vital = 0, 0, held_of_vital / nullif(of_vital, 0)), 10) as vital_score,
    round(held_of_all / of_all, 10) as all_score,
    round(n_vital_supported / nullif(of_vital, 0), 10) as strict_vital_score_or_null,
    round(held_of_vital / nullif(of_vital, 0), 10) as vital_score_or_null,
    round(weight_supported / of_weight, 10) as strict_weighted_score,
    round(weight_held / of_weight, 10) as weighted_score,
    label_set
from totals
