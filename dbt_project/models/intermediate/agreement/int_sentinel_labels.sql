{{ config(materialized='table') }}

with

pairs as (
    select * from {{ source('raw', 'sentinel_pairs') }}
),

grades as (
    select * from {{ source('raw', 'sentinel_grades') }}
),

wanted as (
    select
        collection,
        sentinel,
        kind,
        count(*) as n_wanted
    from pairs
    group by all
),

graded as (
    select
        collection,
        sentinel,
        grader_id,
        round,
        count(*) as n_graded
    from grades
    group by all
),

-- of a rubric's items the best grade, where all have one
labels as (
    select
        grades.collection,
        grades.sentinel,
        grades.grader_id,
        grades.round,
        grades.query_id,
        grades.passage_id,
        pairs.kind,
        pairs.judgment,
        case when bool_and(grades.grade is not null) then max(grades.grade) end as label
    from grades
    inner join pairs using (collection, sentinel, query_id, passage_id, item_id)
    group by all
)

select
    labels.* exclude (kind, judgment),
    graded.n_graded = wanted.n_wanted as is_whole,
    case
        when labels.label is null then null
        when graders.scale_max = collections.max_relevance then greatest(labels.label, 0)
        else cast(labels.label >= collections.min_relevant as integer)
    end as compared_label,
    case
        when graders.scale_max = collections.max_relevance then labels.judgment
        else cast(labels.judgment >= collections.min_relevant as integer)
    end as compared_judgment
from labels
inner join graded using (collection, sentinel, grader_id, round)
inner join wanted using (collection, sentinel, kind)
inner join {{ ref('int_own_graders') }} as graders using (grader_id)
inner join {{ source('raw', 'collections') }} as collections using (collection)
