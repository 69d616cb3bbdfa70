with

items as (
    select * from {{ ref('int_distinct_items') }}
)

select
    collection,
    rubric_version,
    kind,
    query_id,
    item_id,
    item_text as text,
    gold_answers,
    gold_sha256
from items
union all
-- direct judges read the passage as a whole
select
    collection,
    0 as rubric_version,
    'passage' as kind,
    query_id,
    '' as item_id,
    '' as text,
    null as gold_answers,
    null as gold_sha256
from {{ ref('stg_queries') }}
union all
-- those who read answers look for the nuggets in the whole of them
select
    collection,
    rubric_version,
    'answer' as kind,
    query_id,
    item_id,
    item_text as text,
    gold_answers,
    gold_sha256
from items
where kind = 'nugget'
union all
-- and those who read citations, for support of the sentence that cites
select distinct
    collection,
    0 as rubric_version,
    'sentence' as kind,
    query_id,
    item_id,
    sentence_text as text,
    null as gold_answers,
    null as gold_sha256
from {{ ref('stg_sentences') }}
