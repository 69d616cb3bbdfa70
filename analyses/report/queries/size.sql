-- What the collection holds
select
    min_relevant,
    default_pool_depth as pool_depth,
    source,
    (
        select count(*) from lake.raw.systems
        where collection = $collection
    ) as n_systems,
    (
        select count(*) from lake.raw.queries
        where collection = $collection
    ) as n_queries,
    (
        select count(*) from lake.raw.passages
        where collection = $collection and origin in ('corpus', 'response')
    ) as n_passages,
    (
        select count(*) from lake.raw.judgments
        where collection = $collection
    ) as n_judgments,
    (
        select count(*) from lake.raw.grades
        where collection = $collection
    ) as n_grades
from lake.raw.collections
where collection = $collection
