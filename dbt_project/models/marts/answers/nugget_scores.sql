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
        count(*) as n_nuggets,
        count(*) filter (where is_vital) as n_vital,
        count(held) as n_assigned,
        count(*) filter (where held = 1) as n_supported,
        count(*) filter (where held = 1 and is_vital) as n_vital_supported,
        coalesce(sum(held order by item_id), 0) as held_of_all,
        coalesce(sum(held order by item_id) filter (where is_vital), 0) as held_of_vital,
        sum(weight order by item_id) as weight_of_all,
        coalesce(sum(weight order by item_id) filter (where held = 1), 0) as weight_supported,
        coalesce(sum(weight * held order by item_id), 0) as weight_held
    from {{ ref('int_answer_items') }}
    where kind = 'nugget'
    group by all
),

-- of an answer that was not looked into at all there is no score
scores as (
    select
        *,
        n_vital_supported / nullif(n_vital, 0) as strict_vital,
        n_supported / n_nuggets as strict_all,
        held_of_vital / nullif(n_vital, 0) as vital,
        held_of_all / n_nuggets as all_held,
        weight_supported / nullif(weight_of_all, 0) as strict_weighted,
        weight_held / nullif(weight_of_all, 0) as weighted
    from totals
    where n_assigned > 0
    union all by name
    select * from totals
    where n_assigned = 0
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
    round(if(n_vital = 0 and n_assigned > 0, 0, strict_vital), 10) as strict_vital_score,
    round(strict_all, 10) as strict_all_score,
    round(if(n_vital = 0 and n_assigned > 0, 0, vital), 10) as vital_score,
    round(all_held, 10) as all_score,
    round(strict_vital, 10) as strict_vital_score_or_null,
    round(vital, 10) as vital_score_or_null,
    round(strict_weighted, 10) as strict_weighted_score,
    round(weighted, 10) as weighted_score
from scores
