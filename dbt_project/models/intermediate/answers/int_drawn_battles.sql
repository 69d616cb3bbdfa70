-- Reads raw tables only: grading is planned from it between builds. The answers to a query stand in
-- a circle, in an order of chance, and each battles those next to it on both sides. Who comes in
-- between moves others apart, never together: all that is then missing are battles of its own.
with

rules as (
    select
        cast(opponents as integer) // 2 as reach,
        cast(orders as integer) as orders,
        seed
    from {{ ref('evaluation_battles') }}
),

-- systems that answer alike share one
answers as (
    select distinct
        collection,
        query_id,
        passage_id
    from {{ source('raw', 'answers') }}
),

placed as (
    select
        answers.*,
        rules.*,
        row_number() over (
            partition by answers.collection, answers.query_id
            order by md5(concat_ws('/', rules.seed, answers.query_id, answers.passage_id))
        ) - 1 as place,
        count(*) over (partition by answers.collection, answers.query_id) as n_answers
    from answers
    cross join rules
),

steps as (
    select
        *,
        unnest(generate_series(1, least(reach, n_answers - 1))) as step
    from placed
),

drawn as (
    select distinct
        steps.collection,
        steps.query_id,
        least(steps.passage_id, others.passage_id) as one,
        greatest(steps.passage_id, others.passage_id) as other,
        steps.orders,
        -- whether `one` stands first, where one order is asked
        md5(concat_ws('/', steps.seed, steps.query_id, one, other)) < '8' as is_first
    from steps
    inner join placed as others
        on
            steps.collection = others.collection
            and steps.query_id = others.query_id
            and (steps.place + steps.step) % steps.n_answers = others.place
)

select
    collection,
    query_id,
    one as passage_id,
    other as item_id
from drawn
where orders = 2 or is_first
union all
select
    collection,
    query_id,
    other as passage_id,
    one as item_id
from drawn
where orders = 2 or not is_first
