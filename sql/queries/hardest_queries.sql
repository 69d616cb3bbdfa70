-- Which queries do systems find hardest?
-- :collection = any            a collection
-- :label_set = any             assessor:NAME or judge:NAME
-- :measure = nDCG@10           as in the leaderboard's measure column
-- :level = 1                   labels at or above it count as relevant (no effect on nDCG)
select
    topic_scores.collection,
    topic_scores.label_set,
    topic_scores.query_id,
    queries.text,
    round(avg(topic_scores.value), 4) as mean_score,
    max_by(topic_scores.system, topic_scores.value) as best_system,
    max(topic_scores.value) as best_score
from marts.topic_scores
inner join raw.queries as queries
    on
        topic_scores.collection = queries.collection
        and topic_scores.query_id = queries.query_id
where
    topic_scores.measure = $measure
    and topic_scores.level = cast($level as integer)
    and ($collection is null or topic_scores.collection = $collection)
    and ($label_set is null or topic_scores.label_set = $label_set)
group by all
order by
    topic_scores.collection,
    topic_scores.label_set,
    mean_score
