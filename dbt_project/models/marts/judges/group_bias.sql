-- Does a label set favour a kind of systems, such as those built on the judge's own model? Groups
-- are those of gradelake.toml.
with

residuals as (
    select * from {{ ref('int_residuals') }}
),

of_all_systems as (
    select
        collection,
        label_set,
        assessor,
        level,
        measure,
        query_id,
        count(*) as n_systems,
        sum(residual) as residual
    from residuals
    group by all
),

of_groups as (
    select
        residuals.collection,
        residuals.label_set,
        residuals.assessor,
        residuals.level,
        residuals.measure,
        residuals.query_id,
        system_groups.grouping,
        system_groups.group_name,
        count(*) as n_systems,
        sum(residuals.residual) as residual
    from residuals
    inner join {{ ref('int_system_groups') }} as system_groups using (collection, system)
    group by all
),

-- Systems of a group err alike on a query, so that a query tells one thing of a group and the
-- others, however many systems they are.
favours as (
    select
        of_groups.* exclude (residual),
        of_all_systems.n_systems - of_groups.n_systems as n_others,
        of_all_systems.residual / of_all_systems.n_systems as of_all,
        of_groups.residual / of_groups.n_systems - of_all as favour,
        (of_all_systems.residual - of_groups.residual) / nullif(n_others, 0) - of_all
            as favour_of_others,
        favour - favour_of_others as difference
    from of_groups
    inner join of_all_systems using (collection, label_set, assessor, level, measure, query_id)
),

means as (
    select
        collection,
        label_set,
        assessor,
        level,
        measure,
        grouping,
        group_name,
        n_systems,
        n_others,
        count(*) as n_queries,
        avg(favour order by query_id) as favour,
        avg(favour_of_others order by query_id) as favour_of_others,
        avg(difference order by query_id) as difference
    from favours
    group by all
),

-- The queries of a cluster tell one thing together.
deviations as (
    select
        favours.collection,
        favours.label_set,
        favours.assessor,
        favours.level,
        favours.measure,
        favours.grouping,
        favours.group_name,
        coalesce(weights.cluster, favours.query_id) as cluster,
        sum(favours.difference - means.difference order by favours.query_id) as deviation
    from favours
    inner join means
        using (collection, label_set, assessor, level, measure, grouping, group_name)
    left join {{ ref('int_query_weights') }} as weights using (collection, query_id)
    group by all
),

spreads as (
    select
        collection,
        label_set,
        assessor,
        level,
        measure,
        grouping,
        group_name,
        count(*) - 1 as df,
        sum(deviation * deviation order by cluster) * count(*) / nullif(df, 0) as square
    from deviations
    group by all
),

-- Student's t; none where all queries differ by the same
tested as (
    select
        means.*,
        spreads.df,
        sqrt(spreads.square) / means.n_queries as stderr,
        case when stderr > 1e-10 then means.difference / stderr end as t,
        round({{ student_t_p('t', 'spreads.df') }}, 6) as p
    from means
    inner join spreads
        using (collection, label_set, assessor, level, measure, grouping, group_name)
),

-- Holm's, over all groups of a board
numbered as (
    select
        *,
        (count(p) over board - row_number() over in_turn + 1) * p as p_by_place
    from tested
    window
        board as (partition by collection, label_set, assessor, level, measure),
        in_turn as (
            partition by collection, label_set, assessor, level, measure
            order by p asc nulls last, grouping asc, group_name asc
        )
)

select
    collection,
    label_set,
    assessor,
    cast(level as integer) as level,
    measure,
    grouping,
    group_name,
    n_systems,
    n_others,
    n_queries,
    round(favour, 10) as favour,
    round(favour_of_others, 10) as favour_of_others,
    round(difference, 10) as difference,
    round(stderr, 10) as stderr,
    round(t, 10) as t,
    df,
    p,
    case
        when p is not null then least(1, max(p_by_place) over (
            partition by collection, label_set, assessor, level, measure
            order by p asc nulls last, grouping asc, group_name asc
        ))
    end as p_holm
from numbered
