with

edits as (
    select {{ cells_of_an_edit() }}
    from {{ ref('rubric_edits') }}
)

select
    rubric_version,
    dense_rank() over (
        partition by collection
        order by rubric_version
    ) as nth_version,
    * exclude (rubric_version)
    replace (
        case
            when action = 'add' then {{ item_id('query_id', 'facet_id', 'item_text') }}
            else item_id
        end as item_id
    )
from edits
