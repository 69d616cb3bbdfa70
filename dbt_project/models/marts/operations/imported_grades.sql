select
    grades.collection,
    graders.grader,
    runs.command as source,
    graders.engine != 'imported' as is_on_its_word,
    count(*) as n_grades,
    runs.finished_at as imported_at
from {{ source('raw', 'grades') }} as grades
inner join {{ ref('graders') }} as graders using (grader_id)
inner join {{ source('raw', 'pipeline_runs') }} as runs using (run_id)
where starts_with(runs.command, 'import ')
group by
    grades.collection,
    graders.grader,
    runs.command,
    graders.engine,
    runs.run_id,
    runs.finished_at
order by
    imported_at desc,
    grades.collection asc,
    graders.grader asc
