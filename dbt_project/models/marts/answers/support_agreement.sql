with

-- systems that say the same share a label
labels as (
    select distinct
        collection,
        grader as judge,
        query_id,
        item_id,
        cited_passage_id,
        cast(2 * weight as double) as support
    from {{ ref('support_labels') }}
    where weight is not null
),

cells as (
    select
        ours.collection,
        ours.judge as label_set,
        theirs.judge as reference,
        ours.support as label,
        theirs.support as judgment,
        count(*) as n
    from labels as ours
    inner join labels as theirs using (collection, query_id, item_id, cited_passage_id)
    where
        starts_with(theirs.judge, 'assessor:')
        and (not starts_with(ours.judge, 'assessor:') or ours.judge < theirs.judge)
    group by all
),

support_cuts as (
    select distinct
        cells.collection,
        cells.label_set,
        cells.reference,
        listed.kind,
        listed.cut,
        listed.least as label_cut,
        listed.least as reference_cut
    from cells
    cross join (
        values ('binary', 'partial', 1), ('binary', 'full', 2)
    ) as listed (kind, cut, least)
),

kappas as (
    {{ kappas('cells', ['collection', 'label_set', 'reference'], 'support_cuts') }}
)

select
    collection,
    label_set as judge,
    reference,
    if(kind = 'graded', 'all', cut) as cut,
    cast(n as bigint) as n,
    round(observed, 10) as observed,
    round(kappa, 10) as kappa
from kappas
where kind in ('binary', 'graded')
