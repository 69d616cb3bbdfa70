{{ config(materialized='table') }}

with

labels as (
    select labels.*
    from {{ ref('int_sentinel_labels') }} as labels
    semi join {{ source('raw', 'sentinels') }} using (collection, sentinel)
    where labels.is_whole and labels.label is not null
),

reference as (
    select
        collection,
        sentinel,
        grader_id,
        query_id,
        passage_id,
        quantile_disc(label, 0.5) as label,
        quantile_disc(compared_label, 0.5) as compared_label
    from labels
    where round <= {{ reference_rounds() }}
    group by all
),

compared as (
    select
        labels.*,
        labels.label != reference.label as is_flipped,
        labels.compared_label = labels.compared_judgment as is_agreed,
        reference.compared_label = labels.compared_judgment as was_agreed
    from labels
    inner join reference using (collection, sentinel, grader_id, query_id, passage_id)
)

select
    collection,
    sentinel,
    grader_id,
    round,
    count(*) as n_pairs,
    count(*) filter (where is_flipped) as n_flips,
    count(*) filter (where was_agreed) as n_agreed_before,
    count(*) filter (where was_agreed and not is_agreed) as n_lost,
    count(*) filter (where not was_agreed) as n_not_agreed_before,
    count(*) filter (where not was_agreed and is_agreed) as n_gained
from compared
group by all
