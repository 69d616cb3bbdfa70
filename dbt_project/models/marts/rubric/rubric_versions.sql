select
    collection,
    rubric_version,
    rubric_version = max(rubric_version) over (partition by collection) as is_newest,
    case
        when is_newest then [cast(rubric_version as varchar), 'newest']
        else [cast(rubric_version as varchar)]
    end as names
from {{ ref('int_rubric_states') }}
group by collection, rubric_version
