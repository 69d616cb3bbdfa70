-- Each system's score on a board beside what it is compared with: its score on another label set's
-- board, or its rank on an official leaderboard, of which the best is the highest here. An
-- assessor's board is the one at its usual level, any other label set's the one at the same level.
select
    label_pairs.collection,
    label_pairs.label_set,
    one.level,
    one.measure,
    label_pairs.reference,
    label_pairs.assessor,
    other.level as reference_level,
    false as is_official,
    one.system,
    one.score_4dp as score,
    other.score_4dp as reference_score
{{ compared(ref('leaderboard'), ['system', 'measure']) }}
union all by name
select
    leaderboard.collection,
    leaderboard.label_set,
    leaderboard.level,
    leaderboard.measure,
    official_ranks.leaderboard as reference,
    true as is_official,
    leaderboard.system,
    leaderboard.score_4dp as score,
    -official_ranks.rank as reference_score
from {{ ref('leaderboard') }} as leaderboard
inner join {{ source('raw', 'official_ranks') }} as official_ranks using (collection, system)
