-- How well is each rubric item answered: the mean and the distribution of its grades, best first?
-- :collection :grader :rubric_version :query_id
with

counts as (
    select
        grade_grid.collection,
        grade_grid.grader,
        grade_grid.rubric_version,
        grade_grid.query_id,
        grade_grid.item_id,
        coalesce(grade_grid.item_text, grade_grid.item_id) as item,
        grade_grid.grade,
        count(*) as n
    from marts.grade_grid
    where
        grade_grid.grade is not null
        and $asked_of_grade_grid
    group by all
)

select
    collection,
    grader,
    rubric_version,
    query_id,
    item_id,
    item,
    sum(n)::bigint as n_graded,
    sum(grade * n) / sum(n) as mean_grade,
    max(grade) as best_grade,
    -- grade:passages
    string_agg(grade || ':' || n, ' ' order by grade desc) as distribution
from counts
group by all
order by
    collection asc,
    grader asc,
    rubric_version asc,
    mean_grade desc,
    query_id asc,
    item_id asc
