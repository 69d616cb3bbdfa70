{{ config(materialized='table') }}

-- Whose labels passages have. What shares a source is no second rater: a panel, ensemble or hybrid
-- beside its members, another trial, policy or version of the rubric.
with

label_sets as (
    select * from {{ ref('label_sets') }}
    where kind in ('assessor', 'judge', 'clicks', 'rubric', 'hybrid', 'panel')
),

trials as (
    select * from {{ ref('int_trials') }}
),

grader_sources as (
    select
        grader,
        first_trial as source
    from trials
    union
    select
        ensembles.ensemble as grader,
        trials.first_trial as source
    from {{ ref('int_ensembles') }} as ensembles
    inner join trials using (grader_id)
),

own_sources as (
    select
        label_sets.collection,
        label_sets.label_set,
        coalesce(
            'judge:' || grader_sources.source, 'judge:' || label_sets.grader, label_sets.label_set
        ) as source
    from label_sets
    left join grader_sources
        on
            coalesce(label_sets.grader, regexp_extract(label_sets.label_set, '^judge:(.*)$', 1))
            = grader_sources.grader
    where label_sets.kind not in ('hybrid', 'panel')
),

sources as (
    select * from own_sources
    union
    select
        members.collection,
        members.label_set,
        own_sources.source
    from {{ ref('int_label_set_members') }} as members
    inner join own_sources
        on members.collection = own_sources.collection and members.member = own_sources.label_set
),

raters as (
    select
        label_sets.collection,
        label_sets.label_set,
        label_sets.rubric_version,
        label_sets.policy,
        list(sources.source order by sources.source) as sources
    from label_sets
    inner join sources using (collection, label_set)
    group by all
),

-- it has all sources of another label set, and more
composed as (
    select distinct
        whole.collection,
        whole.label_set
    from raters as whole
    inner join raters as part
        on
            whole.collection = part.collection
            and list_has_all(whole.sources, part.sources)
            and len(whole.sources) > len(part.sources)
)

select
    raters.collection,
    raters.label_set,
    raters.sources,
    composed.label_set is null
    and row_number() over (
        partition by raters.collection, raters.sources
        order by
            raters.rubric_version desc nulls last,
            raters.policy = 'best' desc,
            length(raters.label_set) asc,
            raters.label_set asc
    ) = 1 as stands_for_sources
from raters
left join composed using (collection, label_set)
