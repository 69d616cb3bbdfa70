with

-- who says no more than no differs from who agrees
conflicts as (
    select
        collection,
        grader_id,
        query_id,
        passage_id,
        item_id,
        grade,
        count(*) filter (where not settles) as n_assessors,
        min(reviewed_grade) filter (where not settles) as lowest,
        max(reviewed_grade) filter (where not settles) as highest,
        string_agg(
            concat(assessor, ': ', coalesce(cast(reviewed_grade as varchar), 'disagrees')),
            '; '
            order by assessor
        ) filter (where not settles) as said,
        arg_max(assessor, reviewed_at) filter (where settles) as settled_by,
        arg_max(reviewed_grade, reviewed_at) filter (where settles) as settled_grade
    from {{ ref('int_grade_reviews') }}
    group by all
    having
        count(distinct reviewed_grade) filter (where not settles) > 1
        or count(distinct is_agreed) filter (where not settles) > 1
)

select
    conflicts.collection,
    graders.grader,
    conflicts.* exclude (collection, grader_id)
from conflicts
inner join {{ ref('int_own_graders') }} as graders using (grader_id)
order by
    conflicts.highest - conflicts.lowest desc,
    conflicts.collection asc,
    graders.grader asc,
    conflicts.query_id asc,
    conflicts.passage_id asc,
    conflicts.item_id asc,
    conflicts.grade asc
