-- The grids of a version of the rubric: a row per grader and query, the best passages first
with

-- every passage of a grid has the same items
passages as (
    select
        grid.collection,
        grid.grader,
        grid.query_id,
        grid.passage_id,
        grid.mean_grade,
        judgments.relevance as judgment,
        list(
            struct_pack(item_id := grid.item_id, item_text := grid.item_text)
            order by grid.item_id asc
        ) as items,
        list(grid.grade order by grid.item_id) as grades,
        list(grid.answer order by grid.item_id) as answers
    from lake.marts.grade_grid as grid
    left join lake.raw.judgments as judgments
        on
            judgments.assessor = $assessor
            and grid.collection = judgments.collection
            and grid.query_id = judgments.query_id
            and grid.passage_id = judgments.passage_id
    where grid.collection = $collection and grid.rubric_version = $rubric_version
    group by all
)

select
    passages.grader,
    passages.query_id,
    queries.text as query,
    count(*) as n_passages,
    any_value(passages.items) as items,
    list_slice(
        list(
            struct_pack(
                passage_id := passages.passage_id,
                mean_grade := round(passages.mean_grade, 2),
                judgment := passages.judgment,
                grades := passages.grades,
                answers := passages.answers
            )
            order by passages.mean_grade desc, passages.passage_id asc
        ),
        1,
        coalesce($most, count(*))
    ) as passages
from passages
inner join lake.raw.queries as queries using (collection, query_id)
group by all
order by passages.grader, passages.query_id
