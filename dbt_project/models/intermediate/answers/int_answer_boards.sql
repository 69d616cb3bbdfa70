{{ config(materialized='table') }}

with

systems as (
    select distinct
        collection,
        system
    from {{ source('raw', 'answers') }}
),

measures as (
    select * from {{ ref('measures') }}
),

board_queries as (
    select * from {{ ref('board_queries') }}
    where averaged_over not in ('labels', 'rubric')
),

-- as trec_eval prints nDCG: what knows no level repeats at every level
cells as (
    select
        label_sets.collection,
        label_sets.label_set,
        measures.averaged_over,
        levels.level,
        systems.system,
        measures.measure
    from {{ ref('int_answer_label_sets') }} as label_sets
    inner join systems using (collection)
    inner join {{ ref('judgment_kinds') }} as kinds on label_sets.kind = kinds.label_sets
    inner join measures on kinds.measures = measures.kind
    cross join {{ ref('evaluation_levels') }} as levels
    union all
    select distinct
        scores.collection,
        scores.label_set,
        measures.averaged_over,
        levels.level,
        scores.system,
        scores.measure
    from {{ ref('int_brought_scores') }} as scores
    inner join measures using (measure)
    cross join {{ ref('evaluation_levels') }} as levels
),

scored as (
    select
        board_queries.*,
        levels.level,
        scores.system,
        scores.measure,
        scores.value
    from {{ ref('int_answer_scores') }} as scores
    inner join measures using (measure)
    inner join board_queries using (collection, label_set, averaged_over, query_id)
    cross join {{ ref('evaluation_levels') }} as levels
),

{{ board_means(['collection', 'label_set', 'averaged_over']) }}

select
    * exclude (averaged_over, weight),
    null as n_unlabelled_at_k
from means
