-- Which systems cover most of the rubric, and how much does the definition of coverage matter?
-- :collection = any            a collection
-- :grader = any                a grader's name
-- :rubric_version = newest     a version of the rubric, or any
-- :tau = 4                     a grade of tau or more covers an item
-- :k = 20                      passages of each ranking that are looked at
select
    coverage.collection,
    coverage.grader,
    coverage.rubric_version,
    coverage.system,
    count(*) as n_queries,
    round(avg(coverage.cover), 4) as cover,
    round(avg(coverage.cover_weighted), 4) as weighted,
    round(avg(coverage.cover_normalised), 4) as normalised,
    round(avg(coverage.cover_workbench), 4) as workbench
from marts.rubric_coverage as coverage
where
    coverage.tau = cast($tau as integer)
    and coverage.k = cast($k as integer)
    and $asked_of_coverage
group by all
order by
    coverage.collection asc,
    coverage.grader asc,
    coverage.rubric_version asc,
    cover desc,
    coverage.system asc
