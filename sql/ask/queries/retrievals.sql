-- What do a system's searches find that is new, and what do those after the first add?
-- :collection :label_set :system
-- kinds calls:rate found:rate added:change
-- Means over the queries that it searched for; calls and found are of one query.
with

asked as (
    select
        retrievals.*,
        coalesce(stated.weight, 1) as weight
    from marts.retrievals as retrievals
    left join raw.query_weights as stated using (collection, query_id)
    where
        $asked_of_retrievals
        and coalesce(stated.weight, 1) > 0
),

queries as (
    select
        collection,
        label_set,
        system,
        query_id,
        weight,
        count(*) as calls,
        sum(n_found) as found,
        arg_min(score, call) as first_score,
        arg_max(score_so_far, call) as score,
        arg_min(recall_so_far, call) as first_recall,
        arg_max(recall_so_far, call) as recall
    from asked
    group by all
),

by_call as (
    select
        collection,
        label_set,
        system,
        call,
        coalesce(printf('%.0f%%', 100 * sum(n_new) / nullif(sum(n_found), 0)), 'none') as new_share
    from asked
    group by all
),

shares as (
    select
        collection,
        label_set,
        system,
        string_agg(new_share, ', ' order by call) as new_by_call
    from by_call
    group by all
)

select
    collection,
    label_set,
    system,
    count(*) as n_queries,
    round(sum(queries.calls * queries.weight) / sum(queries.weight), 10) as calls,
    round(sum(queries.found * queries.weight) / sum(queries.weight), 10) as found,
    any_value(shares.new_by_call) as new_by_call,
    round(sum(queries.first_score * queries.weight) / sum(queries.weight), 10) as first_score,
    round(sum(queries.score * queries.weight) / sum(queries.weight), 10) as score,
    round(
        sum((queries.score - queries.first_score) * queries.weight) / sum(queries.weight), 10
    ) as added,
    round(sum(queries.first_recall * queries.weight) / sum(queries.weight), 10) as first_recall,
    round(sum(queries.recall * queries.weight) / sum(queries.weight), 10) as recall
from queries
inner join shares using (collection, label_set, system)
group by all
order by
    collection asc,
    label_set asc,
    score desc,
    system asc
