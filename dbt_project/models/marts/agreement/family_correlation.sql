-- Boards at the usual level of their label set, with scores rounded as in leaderboard_agreement.
with

agreement as (
    select agreement.*
    from {{ ref('leaderboard_agreement') }} as agreement
    inner join {{ ref('usual_levels') }} using (collection, label_set, level)
    where agreement.assessor is not null
),

leaderboard as (
    select * from {{ ref('leaderboard') }}
),

left_out as (
    select
        collection,
        grouping,
        group_name,
        list(system) as systems
    from {{ ref('int_system_groups') }}
    group by all
),

paired as (
    select
        agreement.collection,
        agreement.label_set,
        agreement.level,
        agreement.measure,
        agreement.assessor,
        left_out.grouping,
        left_out.group_name,
        one.system,
        one.score_4dp as score,
        other.score_4dp as reference_score
    from leaderboard as one
    inner join agreement using (collection, label_set, level, measure)
    inner join leaderboard as other
        on
            agreement.collection = other.collection
            and agreement.reference = other.label_set
            and agreement.reference_level = other.level
            and agreement.measure = other.measure
            and one.system = other.system
    inner join left_out
        on
            agreement.collection = left_out.collection
            and not list_contains(left_out.systems, one.system)
),

correlations as (
    {{ rank_correlations(
        'paired',
        ['collection', 'label_set', 'level', 'measure', 'assessor', 'grouping', 'group_name'],
        'score', 'reference_score'
    ) }}
)

select
    correlations.collection,
    correlations.label_set,
    cast(correlations.level as integer) as level,
    correlations.measure,
    correlations.assessor,
    correlations.grouping,
    correlations.group_name,
    agreement.n_systems - correlations.n_systems as n_left_out,
    correlations.n_systems,
    correlations.kendall,
    agreement.kendall as kendall_of_all,
    round(agreement.kendall - correlations.kendall, 10) as kendall_by_group,
    correlations.tau_ap,
    agreement.tau_ap as tau_ap_of_all
from correlations
inner join agreement using (collection, label_set, level, measure, assessor)
