-- The labels that each version of the rubric moved, the greatest moves of each; n_labels counts all
with

moves as (
    select * from lake.marts.rubric_impact
    where collection = $collection
),

counts as (
    select
        rubric_version,
        count(*) as n_labels
    from moves
    group by rubric_version
),

greatest_moves as (
    select
        *,
        row_number() over (
            partition by rubric_version
            order by
                abs(coalesce(label_after, 0) - coalesce(label_before, 0)) desc,
                grader asc,
                policy asc,
                query_id asc,
                passage_id asc
        ) as place
    from moves
    qualify place <= $rows
)

select
    greatest_moves.rubric_version,
    greatest_moves.grader,
    greatest_moves.policy,
    greatest_moves.query_id,
    greatest_moves.passage_id,
    greatest_moves.label_before,
    greatest_moves.label_after,
    greatest_moves.action,
    greatest_moves.text,
    greatest_moves.grade,
    counts.n_labels
from greatest_moves
inner join counts using (rubric_version)
order by
    greatest_moves.rubric_version desc,
    greatest_moves.place asc
