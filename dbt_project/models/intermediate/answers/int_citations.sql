-- Reads views of raw tables only: grading is planned from it between builds.
with

-- a sentence may cite one passage twice
distinct_citations as (
    select
        collection,
        system,
        query_id,
        sentence,
        cited_passage_id,
        min(citation) as first_citation,
        count(*) as times
    from {{ source('raw', 'citations') }}
    group by all
)

select
    collection,
    system,
    query_id,
    sentence,
    sentences.item_id,
    distinct_citations.cited_passage_id,
    row_number() over (
        partition by collection, system, query_id, sentence
        order by distinct_citations.first_citation nulls last, distinct_citations.cited_passage_id
    ) as citation,
    distinct_citations.times,
    passages.text_sha256,
    passages.passage_text as cited_text
from distinct_citations
inner join {{ ref('int_sentences') }} as sentences using (collection, system, query_id, sentence)
left join {{ ref('int_passage_texts') }} as passages
    on
        distinct_citations.collection = passages.collection
        and distinct_citations.cited_passage_id = passages.passage_id
