-- How well does each passage answer each rubric item, best passages first?
-- :collection :grader :rubric_version :query_id
-- :tau = 4                     a grade of tau or more is high
-- :m = any                     only passages with at least this many high grades
with

cells as (
    select
        grade_grid.*,
        dense_rank() over (
            partition by
                grade_grid.collection,
                grade_grid.grader,
                grade_grid.rubric_version,
                grade_grid.query_id
            order by grade_grid.place
        ) as item_number
    from marts.grade_grid
    where $asked_of_grade_grid
    qualify
        $m is null
        or count(*) filter (where grade_grid.grade >= cast($tau as integer)) over (
            partition by
                grade_grid.collection,
                grade_grid.grader,
                grade_grid.rubric_version,
                grade_grid.query_id,
                grade_grid.passage_id
        ) >= cast($m as integer)
),

-- above each grid its query, then its items, each number above its column
headings as (
    select distinct
        cells.collection,
        cells.grader,
        cells.rubric_version,
        cells.query_id,
        0 as place,
        'query' as id,
        queries.text
    from cells
    inner join raw.queries as queries using (collection, query_id)
),

legend as (
    select distinct
        collection,
        grader,
        rubric_version,
        query_id,
        item_number as place,
        'item ' || item_number as id,
        repeat('   ', item_number - 1) || lpad(cast(item_number as varchar), 3, ' ') as grades,
        coalesce(item_text, item_id) as text
    from cells
),

grids as (
    select
        cells.collection,
        cells.grader,
        cells.rubric_version,
        cells.query_id,
        cells.passage_id as id,
        cells.label,
        cells.mean_grade,
        string_agg(
            lpad(coalesce(cast(cells.grade as varchar), '-'), 3, ' '), '' order by cells.item_number
        ) as grades,
        left(any_value(passages.text), 80) as text
    from cells
    left join raw.passages as passages using (collection, passage_id)
    group by all
),

lines as (
    select * from headings
    union all by name
    select * from legend
    union all by name
    select * from grids
)

select
    collection,
    grader,
    rubric_version,
    query_id,
    id,
    label,
    mean_grade as mean,
    grades,
    text
from lines
order by
    collection asc,
    grader asc,
    rubric_version asc,
    query_id asc,
    place asc nulls last,
    label desc,
    mean_grade desc,
    id asc
