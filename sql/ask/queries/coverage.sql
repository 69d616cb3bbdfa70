-- Which systems cover most of the rubric, and how much does the definition of coverage matter?
-- :collection :grader :rubric_version :tau :k
with

counts as (
    select
        queries.collection,
        queries.query_id,
        coalesce(stated.weight, 1) as weight
    from raw.queries as queries
    left join raw.query_weights as stated using (collection, query_id)
    where coalesce(stated.weight, 1) > 0
)

select
    coverage.collection,
    coverage.grader,
    coverage.rubric_version,
    coverage.system,
    count(*) as n_queries,
    round(sum(coverage.cover * counts.weight) / sum(counts.weight), 10) as cover,
    round(sum(coverage.cover_weighted * counts.weight) / sum(counts.weight), 10) as weighted,
    round(
        sum(coverage.cover_normalised * counts.weight)
        / sum(counts.weight) filter (where coverage.cover_normalised is not null),
        10
    ) as normalised,
    round(
        sum(coverage.cover_workbench * counts.weight)
        / sum(counts.weight) filter (where coverage.cover_workbench is not null),
        10
    ) as workbench
from marts.rubric_coverage as coverage
inner join counts using (collection, query_id)
where
    $asked_of_coverage
group by all
order by
    coverage.collection asc,
    coverage.grader asc,
    coverage.rubric_version asc,
    cover desc,
    coverage.system asc
