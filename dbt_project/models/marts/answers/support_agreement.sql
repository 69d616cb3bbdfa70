{{ config(materialized='view') }}

with

support_labels as (
    select * from {{ ref('support_labels') }}
),

judgments as (
    select * from {{ ref('stg_support_judgments') }}
),

-- systems that say the same share a label
labels as (
    select distinct
        collection,
        grader as judge,
        query_id,
        item_id,
        cited_passage_id,
        cast(2 * weight as double) as support
    from support_labels
    where weight is not null
    union all
    select
        collection,
        'assessor:' || assessor as judge,
        query_id,
        item_id,
        cited_passage_id,
        support
    from judgments
),

pairs as (
    select
        ours.collection,
        ours.judge,
        theirs.judge as reference,
        ours.support,
        theirs.support as reference_support
    from labels as ours
    inner join labels as theirs using (collection, query_id, item_id, cited_passage_id)
    where
        starts_with(theirs.judge, 'assessor:')
        and (not starts_with(ours.judge, 'assessor:') or ours.judge < theirs.judge)
),

cuts as (
    select
        'partial' as cut,
        1 as least
    union all
    select
        'full' as cut,
        2 as least
),

of_two_classes as (
    select
        pairs.collection,
        pairs.judge,
        pairs.reference,
        cuts.cut,
        count(*) as n,
        count(*) filter (
            where pairs.support >= cuts.least and pairs.reference_support >= cuts.least
        ) as n_both,
        count(*) filter (
            where pairs.support >= cuts.least and pairs.reference_support < cuts.least
        ) as n_judge_only,
        count(*) filter (
            where pairs.support < cuts.least and pairs.reference_support >= cuts.least
        ) as n_reference_only,
        count(*) filter (
            where pairs.support < cuts.least and pairs.reference_support < cuts.least
        ) as n_neither
    from pairs
    cross join cuts
    group by all
),

cells as (
    select
        collection,
        judge,
        reference,
        support,
        reference_support,
        count(*) as n_cell
    from pairs
    group by all
),

totals as (
    select
        *,
        sum(n_cell) over of_both as n,
        sum(n_cell) over (partition by collection, judge, reference, support) as n_support,
        sum(n_cell) over (
            partition by collection, judge, reference, reference_support
        ) as n_reference
    from cells
    window of_both as (partition by collection, judge, reference)
),

-- by chance: of each label, how often the one says it times how often the other does
margins as (
    select
        collection,
        judge,
        reference,
        support,
        max(n) as n,
        max(n_support) as n_support,
        coalesce(max(n_cell) filter (where support = reference_support), 0) as n_same
    from totals
    group by all
),

reference_margins as (
    select distinct
        collection,
        judge,
        reference,
        reference_support as support,
        n_reference
    from totals
),

shares as (
    select
        margins.collection,
        margins.judge,
        margins.reference,
        max(margins.n) as n,
        sum(margins.n_same) / max(margins.n) as observed,
        sum(margins.n_support * coalesce(reference_margins.n_reference, 0))
        / (max(margins.n) * max(margins.n)) as expected
    from margins
    left join reference_margins using (collection, judge, reference, support)
    group by all
)

select
    collection,
    judge,
    reference,
    cut,
    n,
    round((n_both + n_neither) / n, 10) as observed,
    round(
        {{ kappa_of_two_classes('n_both', 'n_judge_only', 'n_reference_only', 'n_neither') }}, 10
    ) as kappa
from of_two_classes
union all
select
    collection,
    judge,
    reference,
    'all' as cut,
    cast(n as bigint) as n,
    round(observed, 10) as observed,
    round((observed - expected) / nullif(1 - expected, 0), 10) as kappa
from shares
