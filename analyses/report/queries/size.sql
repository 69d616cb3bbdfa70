-- What the collection holds
with

counted_systems as (
    select count(*) as n_systems
    from lake.raw.systems
    where collection = $collection
),

counted_queries as (
    select count(*) as n_queries
    from lake.raw.queries
    where collection = $collection
),

counted_passages as (
    select count(*) as n_passages
    from lake.raw.passages
    where collection = $collection
),

counted_judgments as (
    select count(*) as n_judgments
    from lake.raw.judgments
    where collection = $collection
),

counted_grades as (
    select count(*) as n_grades
    from lake.raw.grades
    where collection = $collection
)

select
    collections.min_relevant,
    collections.source,
    counted_systems.n_systems,
    counted_queries.n_queries,
    counted_passages.n_passages,
    counted_judgments.n_judgments,
    counted_grades.n_grades
from lake.raw.collections as collections
cross join counted_systems
cross join counted_queries
cross join counted_passages
cross join counted_judgments
cross join counted_grades
where collections.collection = $collection
