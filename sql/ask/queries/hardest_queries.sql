-- Which queries do systems find hardest?
-- :collection
-- :label_set = any             assessor:NAME, judge:NAME, or GRADER/vN/POLICY
-- :measure :level
select
    topic_scores.collection,
    topic_scores.label_set,
    topic_scores.level,
    topic_scores.query_id,
    queries.text,
    round(avg(topic_scores.value), 4) as mean_score,
    max_by(topic_scores.system, topic_scores.value) as best_system,
    round(max(topic_scores.value), 4) as best_score
from marts.topic_scores
inner join raw.queries as queries using (collection, query_id)
inner join marts.usual_levels as levels using (collection, label_set)
where
    topic_scores.measure = $measure
    and topic_scores.level = coalesce(try_cast($level as integer), levels.level)
    and $asked_of_topic_scores
group by all
order by
    topic_scores.collection,
    topic_scores.label_set,
    mean_score
