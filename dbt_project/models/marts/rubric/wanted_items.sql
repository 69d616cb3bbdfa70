with

kinds as (
    select * from {{ ref('judgment_kinds') }}
),

items as (
    select
        collection,
        rubric_version,
        asks_about as kind,
        query_id,
        item_id,
        item_text as text,
        weight,
        gold_answers,
        gold_sha256
    from {{ ref('int_asked_items') }}
),

answers as (
    select distinct
        collection,
        query_id,
        passage_id
    from {{ source('raw', 'answers') }}
),

answer_texts as (
    select * from {{ ref('int_passage_texts') }}
    semi join answers using (collection, passage_id)
),

newest_items as (
    select distinct
        collection,
        query_id,
        item_id,
        text
    from items
    -- a criterion that counts against an answer says what it should not hold
    where text is not null and weight >= 0
    qualify rubric_version = max(rubric_version) over (partition by collection)
),

-- what a good answer to a query holds, as far as the newest version knows
rubrics as (
    select
        collection,
        query_id,
        list(text order by item_id) as item_texts
    from newest_items
    group by all
)

select * exclude (weight)
from items
union all by name
-- direct judges read the passage as a whole
select
    collection,
    0 as rubric_version,
    kinds.kind,
    query_id,
    '' as item_id,
    '' as text
from {{ ref('int_query_texts') }}
inner join kinds on kinds.items = 'queries'
union all by name
-- those who read citations, for support of the sentence that cites
select distinct
    collection,
    0 as rubric_version,
    kinds.kind,
    query_id,
    item_id,
    sentence_text as text
from {{ ref('int_sentences') }}
inner join kinds on kinds.items = 'sentences'
union all by name
-- and those who let answers battle each other, for the one that is shown last
select
    answers.collection,
    0 as rubric_version,
    kinds.kind,
    answers.query_id,
    answers.passage_id as item_id,
    answer_texts.passage_text as text,
    rubrics.item_texts as gold_answers,
    sha256(cast(to_json(rubrics.item_texts) as varchar)) as gold_sha256
from answers
inner join kinds on kinds.items = 'answers'
left join answer_texts using (collection, passage_id)
left join rubrics using (collection, query_id)
