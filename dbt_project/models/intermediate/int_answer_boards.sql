with

systems as (
    select distinct
        collection,
        system
    from {{ source('raw', 'answers') }}
),

-- every system that answers meets every query; one it left unanswered counts 0
means as (
    select
        label_sets.collection,
        label_sets.label_set,
        systems.system,
        measures.measure,
        label_sets.n_queries,
        count(scores.value) as n_answered,
        coalesce(sum(cast(scores.value as decimal(11, 10))), 0) as total,
        coalesce(
            sum(cast(scores.value as decimal(11, 10)) * cast(scores.value as decimal(11, 10))), 0
        ) as squares
    from {{ ref('int_answer_label_sets') }} as label_sets
    inner join systems using (collection)
    inner join {{ ref('int_measures') }} as measures using (kind)
    left join {{ ref('int_answer_scores') }} as scores
        using (collection, label_set, system, measure)
    group by all
)

-- as trec_eval prints nDCG: what knows no level repeats at every level
select
    means.collection,
    means.label_set,
    levels.level,
    means.system,
    means.measure,
    round(means.total / means.n_queries, 10) as score,
    round(means.total / means.n_queries, 4) as score_4dp,
    round(means.total / nullif(means.n_answered, 0), 10) as score_answered,
    round(
        sqrt(means.n_queries * means.squares - means.total * means.total)
        / (means.n_queries * sqrt(nullif(means.n_queries - 1, 0))),
        10
    ) as stderr,
    means.n_queries,
    means.n_answered,
    null as n_unlabelled_at_k
from means
cross join {{ ref('evaluation_levels') }} as levels
