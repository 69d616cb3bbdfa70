-- What did the grader take as the answer to each rubric item, best first?
-- :collection :grader :rubric_version :query_id
-- :item_id = any               a rubric item: its id, or how its hash begins
-- :tau = any                   only grades of tau or more
-- :m = any                     only passages with at least this many grades of tau (any: 4) or more
with

high_answers as (
    select
        collection,
        grader,
        rubric_version,
        query_id,
        passage_id
    from marts.grade_grid
    group by all
    having
        count(*) filter (where grade >= coalesce(cast($tau as integer), 4))
        >= cast($m as integer)
)

select
    verify_grades.collection,
    verify_grades.grader,
    verify_grades.rubric_version,
    verify_grades.query_id,
    queries.text as query,
    nullif(array_to_string(items.facet_ids, ', '), '') as facet_id,
    coalesce(verify_grades.item_text, verify_grades.item_id) as item,
    verify_grades.grade,
    verify_grades.answer,
    array_to_string(verify_grades.gold_answers, ' | ') as gold_answers,
    verify_grades.assessor,
    verify_grades.judgment,
    verify_grades.n_reviews,
    verify_grades.n_agreed,
    verify_grades.reviewed_grade,
    verify_grades.passage_id,
    left(verify_grades.text, 80) as text
from marts.verify_grades
inner join raw.queries as queries using (collection, query_id)
left join intermediate.int_grader_items as items
    using (collection, grader, rubric_version, query_id, item_id)
where
    $asked_of_verify_grades
    and (
        $item_id is null
        or verify_grades.item_id = $item_id
        or starts_with(split_part(verify_grades.item_id, '/', -1), $item_id)
    )
    and ($tau is null or verify_grades.grade >= cast($tau as integer))
    and (
        $m is null
        or (
            verify_grades.collection,
            verify_grades.grader,
            verify_grades.rubric_version,
            verify_grades.query_id,
            verify_grades.passage_id
        ) in (select * from high_answers)
    )
order by
    verify_grades.collection asc,
    verify_grades.grader asc,
    verify_grades.rubric_version asc,
    verify_grades.query_id asc,
    verify_grades.place asc nulls last,
    verify_grades.item_id asc,
    verify_grades.grade desc,
    verify_grades.passage_id asc,
    verify_grades.assessor asc
