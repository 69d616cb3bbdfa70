-- Are labels more generous than judgments for long passages, or for those that systems rank high?
-- Both are put on a scale from 0 to 1; passages are put into five buckets of equal size.
with

labels as (
    select * from {{ ref('int_labels') }}
),

best_ranks as (
    select
        collection,
        query_id,
        passage_id,
        min(rank) as best_rank
    from {{ ref('int_ranked_entries') }}
    group by all
),

compared as (
    select
        label_pairs.collection,
        label_pairs.label_set,
        label_pairs.assessor,
        one.query_id,
        one.passage_id,
        greatest(one.label, 0) / label_pairs.max_label as label_share,
        greatest(other.label, 0) / label_pairs.max_reference as judgment_share
    from {{ ref('int_label_pairs') }} as label_pairs
    inner join labels as one using (collection, label_set)
    inner join labels as other using (collection, query_id, passage_id)
    -- what a judge's label rubrics were distilled from says nothing about its bias
    anti join {{ ref('sampled_pairs') }} as sampled_pairs
        on
            label_pairs.collection = sampled_pairs.collection
            and label_pairs.label_set = sampled_pairs.label_set
            and one.query_id = sampled_pairs.query_id
            and one.passage_id = sampled_pairs.passage_id
    where
        label_pairs.reference = other.label_set
        and label_pairs.assessor is not null
        and label_pairs.max_label > 0
        and label_pairs.max_reference > 0
),

properties as (
    select
        compared.*,
        'length' as property,
        length(passages.passage_text) as amount
    from compared
    inner join {{ ref('int_passage_texts') }} as passages using (collection, passage_id)
    union all by name
    select
        compared.*,
        'position' as property,
        best_ranks.best_rank as amount
    from compared
    inner join best_ranks using (collection, query_id, passage_id)
),

bucketed as (
    select
        *,
        ntile(5) over (
            partition by collection, label_set, assessor, property
            order by amount, query_id, passage_id
        ) as bucket
    from properties
    where amount is not null
)

-- in a fixed order, sums do not depend on which thread adds first
select
    collection,
    label_set,
    assessor,
    property,
    cast(bucket as integer) as bucket,
    min(amount) as from_amount,
    max(amount) as to_amount,
    count(*) as n,
    round(avg(label_share order by query_id, passage_id), 10) as label_share,
    round(avg(judgment_share order by query_id, passage_id), 10) as judgment_share,
    round(avg(label_share - judgment_share order by query_id, passage_id), 10) as residual,
    round(
        stddev_samp(label_share - judgment_share order by query_id, passage_id) / sqrt(count(*)), 10
    ) as stderr
from bucketed
group by all
