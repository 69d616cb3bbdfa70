-- Which share of its battles an answer wins.
with

sides as (
    select
        collection,
        grader,
        query_id,
        unnest([system, opponent]) as system,
        unnest(
            case outcome
                when 'win' then [1, 0]
                when 'loss' then [0, 1]
                else [0.5, 0.5]
            end
        ) as won
    from {{ ref('battles') }}
)

select
    sides.collection,
    sides.grader || '/' || kinds.label_sets as label_set,
    sides.system,
    sides.query_id,
    round(avg(sides.won), 10) as win_rate
from sides
inner join {{ ref('judgment_kinds') }} as kinds on kinds.texts = 'battles'
group by all
