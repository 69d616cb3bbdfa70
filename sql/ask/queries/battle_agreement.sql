-- Do people agree with a judge of battles, and with each other?
-- :collection = any            a collection
-- :grader = any                a grader's name
-- :reveal = before             what they said before, or after, its verdict was shown
select
    collection,
    grader,
    assessor,
    coalesce(other_assessor, 'the judge') as other_assessor,
    n_battles,
    n_same,
    round(share_same, 3) as share_same,
    round(kappa, 3) as kappa
from marts.battle_agreement
where
    reveal = $reveal
    and $asked_of_battle_agreement
order by
    collection asc,
    grader asc,
    other_assessor desc nulls first,
    assessor asc
