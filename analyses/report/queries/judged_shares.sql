-- How much of the systems' first 10 passages each label set labels, in the mean; 1 where the grid
-- does not measure that. It is the same at every level.
select
    label_set,
    coalesce(avg(score) filter (where measure = 'Judged@10'), 1) as share
from lake.marts.leaderboard
where collection = $collection
group by label_set
