-- Each search is a ranking of its own. All of a query together stand in the order in which passages
-- were first found.
with

-- near-duplicates may be left out, so ranks are counted anew
found as (
    select
        retrievals.*
        replace (row_number() over (
            partition by collection, system, query_id, call
            order by retrievals.rank
        ) as rank),
        row_number() over (
            partition by collection, system, query_id, passage_id
            order by retrievals.call
        ) = 1 as is_new
    from {{ source('raw', 'retrievals') }} as retrievals
    anti join {{ ref('int_left_out_passages') }} using (collection, passage_id)
    where retrievals.passage_id is not null
),

placed as (
    select
        *,
        count(*) filter (where is_new) over (
            partition by collection, system, query_id
            order by call, rank
        ) as place
    from found
),

-- those that found nothing, too
calls as (
    select
        collection,
        system,
        query_id,
        call,
        any_value(retrievals.searched) as searched,
        count(placed.passage_id) as n_found,
        count(*) filter (where placed.is_new) as n_new
    from {{ source('raw', 'retrievals') }} as retrievals
    left join placed using (collection, system, query_id, call, passage_id)
    group by all
),

labels as (
    select
        labels.* replace (coalesce(labels.gain, labels.label) as gain),
        levels.level,
        labels.label >= levels.level as is_relevant
    from {{ ref('int_labels') }} as labels
    semi join calls using (collection, query_id)
    inner join {{ ref('usual_levels') }} as levels using (collection, label_set)
),

-- of nDCG@10, for any ranking of the query
ideal_rankings as (
    select
        collection,
        label_set,
        level,
        query_id,
        10 as k,
        count(*) filter (where is_relevant) as n_known,
        list_reverse_sort(list(gain) filter (where gain > 0)) as ideal_gains
    from labels
    group by all
),

labelled as (
    select
        labels.collection,
        labels.label_set,
        labels.query_id,
        placed.system,
        placed.call,
        count(*) as n_labelled,
        count(*) filter (where labels.is_relevant) as n_relevant,
        count(*) filter (where labels.is_relevant and placed.is_new) as n_relevant_new,
        list_sort(list({ 'rank': placed.rank, 'gain': labels.gain })) as hits,
        list_sort(
            list({ 'rank': placed.place, 'gain': labels.gain }) filter (where placed.is_new)
        ) as new_hits
    from labels
    inner join placed using (collection, query_id, passage_id)
    group by all
),

so_far as (
    select
        calls.*,
        ideal_rankings.* exclude (collection, query_id, ideal_gains),
        {{ ideal_dcg() }} as ideal_gain,
        coalesce(labelled.n_labelled, 0) as n_labelled,
        coalesce(labelled.n_relevant, 0) as n_relevant,
        coalesce(labelled.n_relevant_new, 0) as n_relevant_new,
        sum(labelled.n_relevant_new) over up_to_call as n_relevant_so_far,
        labelled.hits,
        flatten(list(labelled.new_hits) over up_to_call) as hits_so_far
    from ideal_rankings
    inner join calls using (collection, query_id)
    left join labelled using (collection, label_set, system, query_id, call)
    window up_to_call as (
        partition by calls.collection, ideal_rankings.label_set, calls.system, calls.query_id
        order by calls.call
    )
),

scored as (
    select
        *,
        round(coalesce({{ ndcg('hits') }}, 0), 10) as score,
        round(coalesce({{ ndcg('hits_so_far') }}, 0), 10) as score_so_far
    from so_far
)

select
    collection,
    label_set,
    level,
    system,
    query_id,
    call,
    searched,
    n_found,
    n_new,
    n_relevant,
    n_relevant_new,
    n_found - n_labelled as n_unlabelled,
    round(coalesce(n_relevant_so_far / nullif(n_known, 0), 0), 10) as recall_so_far,
    score,
    score_so_far
from scored
