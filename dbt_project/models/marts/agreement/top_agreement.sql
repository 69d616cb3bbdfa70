-- Most judges are right about bad systems: how alike does a label set order those that people rank
-- first, and what does one lose who takes its best system for people's?
with

ranked as (
    select
        *,
        rank() over (board order by reference_score desc) as reference_rank,
        count(*) over board as n_compared,
        max(reference_score) over board - reference_score as lost,
        score = max(score) over board as is_best
    from {{ ref('int_compared_boards') }}
    where is_official or assessor is not null
    window board as (
        partition by collection, label_set, level, measure, reference, is_official
    )
),

choices as (
    select
        collection,
        label_set,
        level,
        measure,
        reference,
        is_official,
        n_compared,
        string_agg(system, ', ' order by system) as best_system,
        avg(reference_rank order by system) as best_rank,
        avg(lost order by system) filter (where not is_official) as loss
    from ranked
    where is_best
    group by all
),

-- systems that tie with the k-th are among the first k, too
tops as (
    select
        ranked.*,
        ks.k
    from ranked
    inner join (values (5), (10), (15)) as ks (k) on ranked.reference_rank <= ks.k
),

correlations as (
    {{ rank_correlations(
        'tops',
        [
            'collection', 'label_set', 'level', 'measure', 'reference', 'assessor',
            'reference_level', 'is_official', 'k'
        ],
        'score', 'reference_score'
    ) }}
)

select
    correlations.collection,
    correlations.label_set,
    cast(correlations.level as integer) as level,
    correlations.measure,
    correlations.reference,
    correlations.assessor,
    cast(correlations.reference_level as integer) as reference_level,
    correlations.is_official,
    correlations.k,
    correlations.n_systems,
    choices.n_compared,
    correlations.kendall,
    correlations.tau_ap,
    correlations.rbo,
    {{ why_undefined() }} as undefined_reason,
    choices.best_system,
    round(choices.best_rank, 10) as best_rank,
    round(choices.loss, 10) as loss
from correlations
inner join choices using (collection, label_set, level, measure, reference, is_official)
