-- The grids of a version of the rubric, from one query to another: a row per grader and query, the
-- best passages first
with

grid as (
    select * from lake.marts.grade_grid
    where
        collection = $collection
        and rubric_version = $rubric_version
        and query_id between $first_query and $last_query
),

-- every passage of a grid has the same items; that of a facet says which
items as (
    select
        grader,
        query_id,
        list(
            struct_pack(
                item_id := item_id,
                item_text
                := coalesce('[' || nullif(array_to_string(facet_ids, ', '), '') || '] ', '')
                || item_text
            )
            order by place
        ) as items
    from lake.marts.grader_items
    where
        collection = $collection
        and rubric_version = $rubric_version
        and query_id between $first_query and $last_query
    group by all
),

passages as (
    select distinct
        grader,
        query_id,
        passage_id,
        mean_grade
    from grid
),

-- chosen before their grades are gathered: a lake may have millions that no grid shows
best_passages as (
    select
        *,
        count(*) over (partition by grader, query_id) as n_passages
    from passages
    qualify row_number() over (
        partition by grader, query_id order by mean_grade desc, passage_id asc
    ) <= coalesce($most, 2147483647)
),

graded_passages as (
    select
        grid.grader,
        grid.query_id,
        grid.passage_id,
        best_passages.n_passages,
        grid.mean_grade,
        max(grid.grade) as best_grade,
        list(grid.grade order by grid.place) as grades,
        list(grid.answer order by grid.place) as answers
    from grid
    inner join best_passages using (grader, query_id, passage_id)
    group by all
)

select
    graded_passages.grader,
    graded_passages.query_id,
    queries.text as query,
    graded_passages.n_passages,
    items.items,
    list(
        struct_pack(
            passage_id := graded_passages.passage_id,
            mean_grade := round(graded_passages.mean_grade, 2),
            best_grade := graded_passages.best_grade,
            judgment := judgments.relevance,
            grades := graded_passages.grades,
            answers := graded_passages.answers
        )
        order by graded_passages.mean_grade desc, graded_passages.passage_id asc
    ) as passages
from graded_passages
inner join items using (grader, query_id)
inner join lake.raw.queries as queries
    on queries.collection = $collection and graded_passages.query_id = queries.query_id
left join lake.raw.judgments as judgments
    on
        judgments.collection = $collection
        and judgments.assessor = $assessor
        and graded_passages.query_id = judgments.query_id
        and graded_passages.passage_id = judgments.passage_id
group by all
order by graded_passages.grader, graded_passages.query_id
