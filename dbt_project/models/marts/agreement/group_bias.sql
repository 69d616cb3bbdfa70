-- Does a label set favour a kind of systems, such as those built on the judge's own model? Groups
-- are those of gradelake.toml.
with

system_groups as (
    select * from {{ ref('int_system_groups') }}
),

groups_of_systems as (
    select distinct
        collection,
        grouping,
        group_name
    from system_groups
),

-- Each group against all systems that are not in it. In a fixed order, sums do not depend on which
-- thread adds first.
sides as (
    select
        system_bias.collection,
        system_bias.label_set,
        system_bias.assessor,
        system_bias.level,
        system_bias.measure,
        groups.grouping,
        groups.group_name,
        members.system is not null as is_member,
        system_bias.system,
        system_bias.favour
    from {{ ref('system_bias') }} as system_bias
    inner join groups_of_systems as groups using (collection)
    left join system_groups as members using (collection, grouping, group_name, system)
),

compared as (
    select
        collection,
        label_set,
        assessor,
        level,
        measure,
        grouping,
        group_name,
        count(*) filter (where is_member) as n_systems,
        count(*) filter (where not is_member) as n_others,
        avg(favour order by system) filter (where is_member) as favour,
        avg(favour order by system) filter (where not is_member) as favour_of_others,
        var_samp(favour order by system) filter (where is_member)
        / count(*) filter (where is_member) as variance,
        var_samp(favour order by system) filter (where not is_member)
        / count(*) filter (where not is_member) as variance_of_others,
        sqrt(variance + variance_of_others) as stderr
    from sides
    group by all
),

-- Welch's t, with Satterthwaite's degrees of freedom
tested as (
    select
        *,
        (favour - favour_of_others) / nullif(stderr, 0) as t,
        pow(stderr, 4) / nullif(
            pow(variance, 2) / (n_systems - 1) + pow(variance_of_others, 2) / (n_others - 1), 0
        ) as df,
        round({{ student_t_p('t', 'df') }}, 6) as p
    from compared
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
    level,
    measure,
    grouping,
    group_name,
    n_systems,
    n_others,
    round(favour, 10) as favour,
    round(favour_of_others, 10) as favour_of_others,
    round(favour - favour_of_others, 10) as difference,
    round(stderr, 10) as stderr,
    round(t, 10) as t,
    round(df, 6) as df,
    p,
    case
        when p is not null then least(1, max(p_by_place) over (
            partition by collection, label_set, assessor, level, measure
            order by p asc nulls last, grouping asc, group_name asc
        ))
    end as p_holm
from numbered
