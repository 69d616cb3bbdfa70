-- On how many queries the boards of a label set are means
select
    label_set,
    measure,
    max(n_queries) as n_queries
from lake.marts.leaderboard
where collection = $collection
group by all
order by all
