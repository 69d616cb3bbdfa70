-- Kept are the entries that any mart can ask for: the head of each ranking, every passage that
-- somebody judged or graded, however deep, and the last one, whose rank is the ranking's length.
with

collections as (
    select * from {{ ref('stg_collections') }}
),

rankings as (
    select * from {{ ref('int_rankings') }}
),

judgments as (
    select * from {{ ref('stg_judgments') }}
),

grades as (
    select * from {{ ref('stg_grades') }}
),

grid as (
    select * from {{ ref('int_measures') }}
),

-- how deep a ranking is looked at: the pool, or the deepest cutoff of the grid
depths as (
    select
        collection,
        greatest(
            default_pool_depth,
            (select coalesce(max(cutoff), 0) from grid)
        ) as depth
    from collections
),

-- whatever the rubric makes of the grades: its edits do not come this way
judged_passages as (
    select
        collection,
        query_id,
        passage_id
    from judgments
    union
    select
        collection,
        query_id,
        passage_id
    from grades
)

select
    rankings.collection,
    rankings.system,
    rankings.query_id,
    rankings.passage_id,
    rankings.rank
from rankings
inner join depths using (collection)
left join judged_passages using (collection, query_id, passage_id)
where
    rankings.rank <= depths.depth
    or rankings.rank = rankings.n_retrieved
    or judged_passages.passage_id is not null
