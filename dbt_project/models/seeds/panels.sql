-- Every row of seeds/panels.csv that cannot be applied, and why.
with

rows_of_file as (
    select
        *,
        regexp_split_to_array(trim(assessors), '\s+') as members
    from {{ file_rows() }}
),

known as (
    select
        collection,
        list(distinct assessor) as assessors
    from {{ source('raw', 'judgments') }}
    group by all
),

checked as (
    select
        rows_of_file.*,
        list_filter(
            rows_of_file.members, lambda one: not list_contains(coalesce(known.assessors, []), one)
        ) as strangers
    from rows_of_file
    left join known using (collection)
)

select
    coalesce(panel, '(no name)') || ', ' || coalesce(collection, '(no collection)') as bad_row,
    case
        {{ name_is_wrong('panel', 'collection, panel') }}
        when coalesce(rule, '') not in ('majority', 'last', 'mean')
            then 'rule must be majority, last or mean'
        when coalesce(len(members), 0) < 2 or len(list_distinct(members)) < len(members)
            then 'assessors must name two or more people, each once'
        when strangers != []
            then 'no judgments of ' || array_to_string(strangers, ', ') || ' in the collection'
    end as problem
from checked
qualify problem is not null
