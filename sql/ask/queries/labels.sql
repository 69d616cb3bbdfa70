-- How many labels of each value does each label set have, over how many queries?
-- :collection
-- :label_set = any             assessor:NAME, judge:NAME, or GRADER/vN/POLICY
with

labels as (
    select * from marts.relevance_labels
    where $asked_of_relevance_labels
),

counts as (
    select
        collection,
        label_set,
        label,
        count(*) as n
    from labels
    group by all
),

queries as (
    select
        collection,
        label_set,
        count(distinct query_id) as n_queries
    from labels
    group by all
)

select
    counts.collection,
    counts.label_set,
    queries.n_queries,
    sum(counts.n)::bigint as n_labels,
    sum(counts.label * counts.n) / sum(counts.n) as mean_label,
    -- label:passages
    string_agg(counts.label || ':' || counts.n, ' ' order by counts.label desc) as distribution
from counts
inner join queries using (collection, label_set)
group by all
order by all
