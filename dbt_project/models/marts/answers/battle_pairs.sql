select
    collection,
    grader,
    system,
    opponent,
    count(*) as n_battles,
    count(*) filter (where outcome = 'win') as n_wins,
    count(*) filter (where outcome = 'loss') as n_losses,
    count(*) filter (where outcome = 'tie') as n_ties,
    count(*) filter (where is_flip) as n_flips,
    count(*) filter (where is_bad) as n_bad,
    round((n_wins + n_ties / 2) / n_battles, 10) as win_rate,
    cast(sum(n_verdicts) as bigint) as n_verdicts,
    cast(sum(n_first_wins) as bigint) as n_first_wins,
    cast(sum(n_second_wins) as bigint) as n_second_wins,
    round(
        sum(n_first_wins) / nullif(sum(n_first_wins) + sum(n_second_wins), 0), 10
    ) as first_share
from {{ ref('battles') }}
group by all
