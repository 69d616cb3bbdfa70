-- What do a system's searches find that is new, and what do those after the first add?
-- :collection :label_set :system
-- kinds calls:rate found:rate added:change
-- Means over the queries that it searched for; calls and found are of one query.
with

asked as (
    select
        retrievals.*,
        -- the part of its query in means
        coalesce(stated.weight, 1)
        / sum(coalesce(stated.weight, 1)) filter (where retrievals.call = 1) over (
            partition by collection, label_set, system
        ) as part,
        retrievals.call = max(retrievals.call) over (
            partition by collection, label_set, system, query_id
        ) as is_last
    from marts.retrievals as retrievals
    left join raw.query_weights as stated using (collection, query_id)
    where
        $asked_of_retrievals
        and coalesce(stated.weight, 1) > 0
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
    count(*) filter (where asked.call = 1) as n_queries,
    round(sum(asked.part), 10) as calls,
    round(sum(asked.n_found * asked.part), 10) as found,
    shares.new_by_call,
    round(sum(asked.score * asked.part) filter (where asked.call = 1), 10) as first_score,
    round(sum(asked.score_so_far * asked.part) filter (where asked.is_last), 10) as score,
    round(
        sum(asked.score_so_far * asked.part) filter (where asked.is_last)
        - sum(asked.score * asked.part) filter (where asked.call = 1),
        10
    ) as added,
    round(sum(asked.recall_so_far * asked.part) filter (where asked.call = 1), 10) as first_recall,
    round(sum(asked.recall_so_far * asked.part) filter (where asked.is_last), 10) as recall
from asked
inner join shares using (collection, label_set, system)
group by all
order by
    collection asc,
    label_set asc,
    score desc,
    system asc
