-- Each system's score on a board beside what it is compared with: its score on another label set's
-- board, or its rank on an official leaderboard, of which the best is the highest here. An
-- assessor's board is the one at its usual level, any other label set's the one at the same level.
with

leaderboard as (
    select * from {{ ref('leaderboard') }}
)

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
from {{ ref('int_label_pairs') }} as label_pairs
inner join leaderboard as one using (collection, label_set)
inner join {{ ref('usual_levels') }} as usual_levels
    on
        label_pairs.collection = usual_levels.collection
        and label_pairs.reference = usual_levels.label_set
inner join leaderboard as other
    on
        label_pairs.collection = other.collection
        and label_pairs.reference = other.label_set
        and one.system = other.system
        and one.measure = other.measure
        and other.level = case
            when label_pairs.assessor is null then one.level else usual_levels.level
        end
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
from leaderboard
inner join {{ source('raw', 'official_ranks') }} as official_ranks using (collection, system)
