with

assigned as (
    select
        collection,
        grader,
        rubric_version,
        sum(n_nuggets) as n_wanted,
        sum(n_assigned) as n_graded
    from {{ ref('nugget_scores') }}
    group by all
    having sum(n_assigned) > 0
)

select
    collection,
    grader || '/v' || rubric_version || '/nuggets' as label_set,
    'nuggets' as kind,
    grader,
    rubric_version,
    cast(n_wanted as bigint) as n_wanted,
    cast(n_graded as bigint) as n_graded
from assigned
union all
select
    collection,
    grader || '/' || citations || '_citation' as label_set,
    'support' as kind,
    grader,
    null as rubric_version,
    cast(sum(n_citations - n_missing) as bigint) as n_wanted,
    cast(sum(n_judged) as bigint) as n_graded
from {{ ref('support_scores') }}
group by all
