with

scores as (
    select * exclude (part) from {{ ref('int_board_scores') }}
    union all by name
    select * from {{ ref('int_answer_boards') }}
),

shares as (
    select
        scores.*,
        least(
            completeness.labelled_share,
            round(1 - scores.n_unlabelled_at_k / scores.n_entries_at_k, 10)
        ) as labelled_share
    from scores
    left join {{ ref('label_completeness') }} as completeness using (collection, label_set)
)

select
    scores.collection,
    scores.label_set,
    scores.level,
    scores.system,
    scores.measure,
    scores.score,
    scores.score_4dp,
    scores.score_answered,
    rank() over (
        partition by scores.collection, scores.label_set, scores.level, scores.measure
        order by scores.score desc
    ) as rank,
    scores.n_queries,
    scores.n_answered,
    scores.stderr,
    scores.n_unlabelled_at_k,
    covers.score as cover,
    scores.labelled_share,
    scores.labelled_share < cast(enough.least_labelled as double) as is_incomplete
from shares as scores
inner join {{ ref('measures') }} as measures using (measure)
cross join {{ ref('evaluation_completeness') }} as enough
left join scores as covers
    on
        scores.collection = covers.collection
        and scores.label_set = covers.label_set
        and scores.level = covers.level
        and scores.system = covers.system
        and covers.measure = 'Cover@' || measures.cutoff
