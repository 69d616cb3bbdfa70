with

-- who settles a conflict has seen what the others said
assessor_grades as (
    select * from {{ ref('int_assessor_grades') }}
    where not settles
),

pairs as (
    select
        ours.collection,
        ours.grader_id,
        ours.reveal,
        ours.assessor,
        theirs.assessor as other_assessor,
        ours.assessor_grade as grade,
        theirs.assessor_grade as other_grade
    from assessor_grades as ours
    inner join assessor_grades as theirs
        using (collection, grader_id, query_id, passage_id, item_id, reveal)
    where
        ours.assessor < theirs.assessor
        and ours.assessor_grade is not null
        and theirs.assessor_grade is not null
),

counts as (
    select
        pairs.collection,
        graders.grader,
        pairs.assessor,
        pairs.other_assessor,
        pairs.reveal,
        levels.level as tau,
        count(*) as n_graded,
        count(*) filter (where pairs.grade = pairs.other_grade) as n_same,
        {{ counts_of_two_classes(
            'levels.level', 'pairs.grade', 'pairs.other_grade', 'n_assessor_only', 'n_other_only'
        ) }}
    from pairs
    inner join {{ ref('int_own_graders') }} as graders using (grader_id)
    cross join {{ ref('evaluation_levels') }} as levels
    group by all
)

select
    *,
    round((n_both + n_neither) / n_graded, 10) as observed,
    round(
        {{ kappa_of_two_classes('n_both', 'n_assessor_only', 'n_other_only', 'n_neither') }}, 10
    ) as kappa
from counts
order by all
