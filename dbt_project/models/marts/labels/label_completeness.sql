{{ config(materialized='table') }}

-- Of several assessors the one who judged the most is the reference, of equals the first by name:
-- the one that the report takes.
with

label_sets as (
    select * from {{ ref('label_sets') }}
    where kind in ('assessor', 'judge', 'clicks', 'rubric')
),

most_judging as (
    select
        collection,
        arg_min(label_set, (-n_labels, label_set)) as reference,
        max(n_labels) as n_judged
    from label_sets
    where kind = 'assessor'
    group by collection
),

labelled as (
    select
        confusions.collection,
        confusions.label_set,
        confusions.reference,
        sum(confusions.n) as n_labelled
    from {{ ref('int_confusions') }} as confusions
    semi join most_judging using (collection, reference)
    group by all
    union all by name
    select
        collection,
        reference as label_set,
        reference,
        n_judged as n_labelled
    from most_judging
),

shares as (
    select
        label_sets.collection,
        label_sets.label_set,
        most_judging.reference,
        most_judging.n_judged,
        case when most_judging.n_judged is not null then coalesce(labelled.n_labelled, 0) end
            as n_labelled
    from label_sets
    left join most_judging using (collection)
    left join labelled using (collection, label_set)
    union all
    -- what scores answers is complete when each of their nuggets, or citations, has a grade
    select
        collection,
        label_set,
        null as reference,
        n_wanted as n_judged,
        n_graded as n_labelled
    from {{ ref('int_answer_label_sets') }}
)

select
    shares.* exclude (n_labelled),
    cast(shares.n_labelled as bigint) as n_labelled,
    round(shares.n_labelled / shares.n_judged, 10) as labelled_share,
    shares.n_labelled / shares.n_judged < cast(completeness.least_labelled as double)
        as is_incomplete
from shares
cross join {{ ref('evaluation_completeness') }} as completeness
