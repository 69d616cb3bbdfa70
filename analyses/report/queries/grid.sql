-- Every grade of the newest rubric, the best passages first
create or replace temp table grid as
select
    grid.grader,
    grid.query_id,
    grid.passage_id,
    grid.label,
    grid.mean_grade,
    grid.item_id,
    grid.item_text,
    grid.grade,
    grid.answer
from lake.marts.grade_grid as grid
inner join lake.marts.rubric_versions as versions
    on grid.collection = versions.collection and grid.rubric_version = versions.rubric_version
where grid.collection = $collection and versions.is_newest
