-- Who graded, and how it was asked
select
    graders.name,
    graders.engine,
    concat_ws(' @ ', coalesce(nullif(graders.model, ''), '–'), nullif(graders.model_revision, ''))
        as model,
    concat_ws(
        ' ', coalesce(nullif(graders.prompt, ''), '–'), nullif(left(graders.prompt_sha256, 12), '')
    ) as prompt,
    columns('^(settings|decoding)$') as settings,  -- decoding: before raw schema 8
    graders.parser,
    count(*) as n_grades
from lake.raw.graders as graders
inner join lake.raw.grades as grades using (grader_id)
where grades.collection = $collection
group by all
order by graders.name asc, n_grades desc
