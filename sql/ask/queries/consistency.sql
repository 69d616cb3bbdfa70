-- How often does a judge that is asked several times change its mind?
-- :collection :grader
-- :part = all                  all, query or item
select
    collection,
    grader,
    query_id,
    item_id,
    n_pairs,
    n_grades,
    round(self_agreement, 3) as self_agreement,
    round(flip_rate, 3) as flip_rate,
    round(graded_alpha, 3) as graded_alpha
from marts.judge_consistency
where
    part = $part
    and $asked_of_judge_consistency
order by
    collection asc,
    grader asc,
    flip_rate desc,
    query_id asc,
    item_id asc
