select
    collection,
    rubric_version,
    lag(rubric_version, 1, 0) over (
        partition by collection
        order by rubric_version
    ) as previous_version
from {{ ref('int_numbered_edits') }}
group by collection, rubric_version
