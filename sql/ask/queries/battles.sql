-- Which system wins its battles with which, and how often does the order decide?
-- :collection :grader :system
select
    collection,
    grader,
    system,
    opponent,
    n_battles,
    n_wins,
    n_losses,
    n_ties,
    n_flips,
    n_bad,
    round(win_rate, 3) as win_rate,
    round(first_share, 3) as first_share
from marts.battle_pairs
where $asked_of_battle_pairs
order by
    collection asc,
    grader asc,
    win_rate desc,
    system asc,
    opponent asc
