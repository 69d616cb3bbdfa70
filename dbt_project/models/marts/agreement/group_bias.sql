-- Does a label set favour a kind of systems, such as those built on the judge's own model? Groups
-- are those of gradelake.toml.
with

system_groups as (
    select * from {{ source('raw', 'system_groups') }}
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
        sqrt(
            var_samp(favour order by system) filter (where is_member)
            / count(*) filter (where is_member)
            + var_samp(favour order by system) filter (where not is_member)
            / count(*) filter (where not is_member)
        ) as stderr
    from sides
    group by all
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
    -- Welch's t
    round((favour - favour_of_others) / nullif(stderr, 0), 10) as t
from compared
