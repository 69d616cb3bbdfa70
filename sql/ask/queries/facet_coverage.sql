-- Which facets (subtopics) of the queries do systems cover, and which does no system?
-- :collection :grader :rubric_version :tau :k :query_id
select
    coverage.collection,
    coverage.grader,
    coverage.rubric_version,
    coverage.query_id,
    coverage.facet_id,
    coalesce(facets.text, coverage.facet_id) as facet,
    coverage.n_items,
    round(avg(coverage.cover), 4) as mean_cover,
    round(max(coverage.cover), 4) as best_cover,
    arg_max(coverage.system, (coverage.cover, coverage.system)) as best_system
from marts.facet_coverage as coverage
left join raw.facets as facets using (collection, query_id, facet_id)
where
    coverage.tau = cast($tau as integer)
    and coverage.k = cast($k as integer)
    and $asked_of_coverage
group by all
order by
    coverage.collection asc,
    coverage.grader asc,
    coverage.rubric_version asc,
    mean_cover asc,
    coverage.query_id asc,
    coverage.facet_id asc
