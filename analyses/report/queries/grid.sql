-- Every grade of a version of the rubric
create or replace temp table grid as
select
    grader,
    query_id,
    passage_id,
    label,
    mean_grade,
    item_id,
    item_text,
    grade,
    answer
from lake.marts.grade_grid
where collection = $collection and rubric_version = $rubric_version
