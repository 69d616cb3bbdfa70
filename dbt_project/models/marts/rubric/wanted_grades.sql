-- Reads views of raw tables only: grading is planned from it between builds.
with

items as (
    select
        wanted_items.*,
        kinds.texts,
        contains(kinds.also, 'verify') as is_answered_first
    from {{ ref('wanted_items') }} as wanted_items
    inner join {{ ref('judgment_kinds') }} as kinds using (kind)
),

-- systems that answer alike share one
whole_answers as (
    select distinct
        collection,
        query_id,
        passage_id
    from {{ source('raw', 'answers') }}
),

cited_passages as (
    select distinct
        citations.collection,
        citations.query_id,
        citations.cited_passage_id as passage_id,
        citations.text_sha256,
        citations.item_id
    from {{ ref('int_citations') }} as citations
    inner join {{ ref('evaluation_citations') }} as citation_rules
        on
            citation_rules.citations in ('every', 'track_every')
            or citations.citation = 1
),

pairs as (
    select
        collection,
        items.rubric_version,
        items.kind,
        query_id,
        pool.passage_id,
        pool.text_sha256,
        items.item_id,
        items.gold_answers is not null as has_gold_answers,
        items.gold_sha256,
        pool.text_sha256 is not null and items.text is not null as is_gradable,
        items.is_answered_first
    from {{ ref('pool') }} as pool
    inner join items using (collection, query_id)
    where items.texts = 'pool'
    union all by name
    select
        collection,
        items.rubric_version,
        items.kind,
        query_id,
        whole_answers.passage_id,
        passages.text_sha256,
        items.item_id,
        items.gold_answers is not null as has_gold_answers,
        items.gold_sha256,
        passages.text_sha256 is not null and items.text is not null as is_gradable
    from whole_answers
    inner join items using (collection, query_id)
    left join {{ ref('int_passage_texts') }} as passages using (collection, passage_id)
    where items.texts = 'answers'
    union all by name
    select
        collection,
        items.rubric_version,
        items.kind,
        query_id,
        cited_passages.passage_id,
        cited_passages.text_sha256,
        items.item_id,
        items.gold_answers is not null as has_gold_answers,
        items.gold_sha256,
        cited_passages.text_sha256 is not null and items.text is not null as is_gradable
    from cited_passages
    inner join items using (collection, query_id, item_id)
    where items.texts = 'citations'
    union all by name
    select
        battles.collection,
        items.rubric_version,
        items.kind,
        battles.query_id,
        battles.passage_id,
        passages.text_sha256,
        battles.item_id,
        items.gold_answers is not null as has_gold_answers,
        items.gold_sha256,
        passages.text_sha256 is not null and items.text is not null as is_gradable
    from {{ ref('int_drawn_battles') }} as battles
    inner join items using (collection, query_id, item_id)
    left join {{ ref('int_passage_texts') }} as passages using (collection, passage_id)
    where items.texts = 'battles'
),

-- one answer of each grader that extracts them; empty where it found none
extracted_answers as (
    select
        collection,
        query_id,
        passage_id,
        item_id,
        grader_id as answers_from,
        coalesce(min(trim(answer)) filter (where status = 'ok'), '') as answer
    from {{ ref('int_grades_in_force') }}
    inner join {{ ref('int_recorded_graders') }} as graders using (grader_id)
    where
        graders.target = 'extract'
        and status in ('ok', 'unanswerable')
    group by all
),

answers_of_pairs as (
    select
        collection,
        query_id,
        passage_id,
        item_id,
        list({ 'answers_from': answers_from, 'answer': answer }) as answers
    from extracted_answers
    group by all
),

-- of a pair one row without an answer, and one for each; to join twice would be to rank all twice
asked as (
    select
        pairs.*,
        unnest(
            list_prepend(
                { 'answers_from': null, 'answer': null },
                if(pairs.is_answered_first, answers_of_pairs.answers, [])
            )
        ) as extracted
    from pairs
    left join answers_of_pairs using (collection, query_id, passage_id, item_id)
)

select
    collection,
    rubric_version,
    kind,
    query_id,
    passage_id,
    text_sha256,
    item_id,
    has_gold_answers,
    is_gradable,
    extracted['answers_from'] as answers_from,
    extracted['answer'] as answer,
    gold_sha256
from asked
