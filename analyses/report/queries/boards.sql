-- Every system's score and rank: a row per label set, relevance level and measure
select
    label_set,
    level,
    measure,
    any_value(n_queries) as n_queries,
    map_from_entries(
        list(
            (
                system,
                struct_pack(
                    score := round(score, 6), stderr := round(stderr, 4), rank := rank
                )
            )
        )
    ) as systems
from lake.marts.leaderboard
where collection = $collection
group by all
order by all
