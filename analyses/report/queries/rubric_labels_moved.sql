-- The labels that each version of the rubric moved, the greatest moves of each; n_labels counts all
select
    rubric_version,
    grader,
    policy,
    query_id,
    passage_id,
    label_before,
    label_after,
    action,
    text,
    grade,
    count(*) over (partition by rubric_version) as n_labels,
    row_number() over (
        partition by rubric_version
        order by
            abs(coalesce(label_after, 0) - coalesce(label_before, 0)) desc,
            grader asc,
            policy asc,
            query_id asc,
            passage_id asc
    ) as place
from lake.marts.rubric_impact
where collection = $collection
qualify place <= $rows
order by
    rubric_version desc,
    place asc
