-- How certain is a score by a judge that is asked several times?
-- :collection
-- :label_set = any             judge:NAME, or GRADER/vN/POLICY, of its first trial
-- :measure = nDCG@10           a measure
-- :level = usual               relevance level of the label set's scores, such as 2
select
    noise.collection,
    noise.label_set,
    noise.level,
    noise.system,
    noise.n_queries,
    noise.n_trials,
    round(noise.score, 4) as score,
    round(noise.stderr_queries, 4) as stderr_queries,
    round(noise.stderr_trials, 4) as stderr_trials,
    round(noise.low, 4) as low,
    round(noise.high, 4) as high
from marts.leaderboard_noise as noise
inner join marts.usual_levels as levels using (collection, label_set)
where
    noise.measure = $measure
    and noise.level = coalesce(try_cast($level as integer), levels.level)
    and $asked_of_noise
order by
    noise.collection asc,
    noise.label_set asc,
    noise.score desc,
    noise.system asc
