-- How well each board agrees with the reference's, over the systems of both
select
    label_set,
    level,
    measure,
    reference_level,
    round(kendall, 3) as kendall,
    round(spearman, 3) as spearman,
    n_systems
from lake.marts.leaderboard_agreement
where collection = $collection and reference = $reference
order by all
