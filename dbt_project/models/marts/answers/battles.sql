{{ config(materialized='table') }}

with

answers as (
    select * from {{ source('raw', 'answers') }}
),

-- as the answer that is first by its id sees them, whichever stood first
verdicts as (
    select
        collection,
        grader,
        query_id,
        least(passage_id, item_id) as one,
        greatest(passage_id, item_id) as other,
        grade,
        case
            when grade in (1, 2) then 0.5
            when (grade = 3) = (passage_id = one) then 1
            else 0
        end as win
    from {{ ref('int_battle_verdicts') }}
),

-- a battle of which one order is missing would be decided by who stood first
outcomes as (
    select
        collection,
        grader,
        query_id,
        one,
        other,
        if(min(win) = max(win), min(win), 0.5) as win,
        min(win) != max(win) as is_flip,
        max(grade) = 1 and min(grade) = 1 as is_bad,
        count(*) as n_verdicts,
        count(*) filter (where grade = 3) as n_first_wins,
        count(*) filter (where grade = 0) as n_second_wins
    from verdicts
    group by all
    having
        count(*) >= (select any_value(cast(orders as integer)) from {{ ref('evaluation_battles') }})
)

select
    outcomes.collection,
    outcomes.grader,
    outcomes.query_id,
    least(ones.system, others.system) as system,
    greatest(ones.system, others.system) as opponent,
    case if(ones.system < others.system, outcomes.win, 1 - outcomes.win)
        when 1 then 'win'
        when 0 then 'loss'
        else 'tie'
    end as outcome,
    outcomes.* exclude (collection, grader, query_id, one, other, win)
from outcomes
inner join answers as ones
    on
        outcomes.collection = ones.collection
        and outcomes.query_id = ones.query_id
        and outcomes.one = ones.passage_id
inner join answers as others
    on
        outcomes.collection = others.collection
        and outcomes.query_id = others.query_id
        and outcomes.other = others.passage_id
