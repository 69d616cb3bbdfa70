with

distinct_labels as (
    select
        variant,
        collection,
        query_id,
        top_label,
        min(label_set) as label_set
    from {{ ref('int_label_variants') }}
    group by all
)

select
    hash(distinct_labels.variant, rankings.ranking_hash) as part,
    distinct_labels.*,
    rankings.system,
    rankings.n_retrieved
from distinct_labels
inner join {{ ref('int_ranking_inputs') }} as rankings using (collection, query_id)
