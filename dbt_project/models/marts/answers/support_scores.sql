{{ config(materialized='table') }}

-- TREC 2024 RAG Track, Support Evaluation (arXiv:2504.15205): weighted precision over citations,
-- weighted recall over sentences. Rules that begin with `track_` read it as the track's own tool of
-- 2026 does: a sentence's value is the mean of its judged citations, and both are over sentences.
with

-- the track counts objects of an answer without a text, as sentences that cite nothing
blank_sentences as (
    select
        collection,
        system,
        query_id,
        count(*) as n_blank
    from {{ source('raw', 'sentences') }}
    anti join {{ source('raw', 'citations') }} using (collection, system, query_id, sentence)
    where text = ''
    group by all
),

-- what counts by each rule; sentences without a citation count for recall
counted as (
    select
        labels.collection,
        labels.grader,
        rules.citations,
        starts_with(rules.citations, 'track_') as is_track,
        labels.system,
        labels.query_id,
        labels.sentence,
        labels.cited_passage_id is not null as is_citation,
        -- a passage that a sentence cites twice counts twice to the track
        if(rules.citations = 'track_every', labels.times, 1) as times,
        labels.support is null and not coalesce(labels.is_in_lake, true) as is_missing,
        labels.support is not null as is_judged,
        case
            when labels.weight is not null then labels.weight
            when not labels.is_in_lake and rules.missing = 'no_support' then 0
        end as weight
    from {{ ref('support_labels') }} as labels
    inner join {{ ref('evaluation_citations') }} as rules
        on
            rules.citations in ('every', 'track_every')
            or labels.citation is null
            or labels.citation = 1
),

by_sentence as (
    select
        collection,
        grader,
        citations,
        system,
        query_id,
        sentence,
        bool_or(is_track) as is_track,
        coalesce(sum(times) filter (where is_citation), 0) as n_citations,
        coalesce(sum(times) filter (where is_missing), 0) as n_missing,
        coalesce(sum(times) filter (where is_judged), 0) as n_judged,
        count(weight) as n_counted,
        sum(times) filter (where weight is not null) as n_weighed,
        count(*) filter (where weight = 1) as n_full,
        coalesce(sum(weight), 0) as weight,
        -- one citation that supports it is enough; to the track it is the mean
        coalesce(if(bool_or(is_track), sum(times * weight) / n_weighed, max(weight)), 0) as worth,
        coalesce(
            if(bool_or(is_track), sum(times * floor(weight)) / n_weighed, max(floor(weight))), 0
        ) as hard_worth
    from counted
    group by all
),

totals as (
    select
        collection,
        grader,
        citations,
        system,
        query_id,
        bool_or(is_track) as is_track,
        count(*) + if(bool_or(is_track), coalesce(any_value(n_blank), 0), 0) as n_sentences,
        count(*) filter (where n_citations > 0) as n_cited_sentences,
        cast(sum(n_citations) as bigint) as n_citations,
        cast(sum(n_missing) as bigint) as n_missing,
        cast(sum(n_judged) as bigint) as n_judged,
        sum(worth order by sentence) as all_worth,
        sum(hard_worth order by sentence) as all_hard_worth,
        -- what precision is a mean of, and what recall divides by
        sum(if(is_track, worth, weight) order by sentence) as weight,
        sum(if(is_track, hard_worth, n_full) order by sentence) as hard_weight,
        sum(if(is_track, least(n_counted, 1), n_counted)) as n_of_precision,
        count(*) filter (where not is_track or n_citations = 0 or n_counted > 0)
        + if(bool_or(is_track), coalesce(any_value(n_blank), 0), 0) as n_of_recall
    from by_sentence
    left join blank_sentences using (collection, system, query_id)
    group by all
),

-- an answer whose citations were not looked at has no scores; one without citations has, and to
-- the track each is 0
scores as (
    select
        *,
        is_track or n_judged > 0 or n_citations = n_missing as is_scored,
        weight / nullif(n_of_precision, 0) as precision,
        coalesce(all_worth / nullif(n_of_recall, 0), 0) as recall,
        hard_weight / nullif(n_of_precision, 0) as hard_precision,
        coalesce(all_hard_worth / nullif(n_of_recall, 0), 0) as hard_recall
    from totals
)

select
    collection,
    grader,
    citations,
    system,
    query_id,
    n_sentences,
    n_cited_sentences,
    n_citations,
    n_missing,
    n_judged,
    round(if(is_scored, coalesce(precision, 0), null), 10) as support_precision,
    round(if(is_scored, recall, null), 10) as support_recall,
    round(
        if(is_scored, coalesce(2 * precision * recall / nullif(precision + recall, 0), 0), null), 10
    ) as support_f1,
    round(if(is_scored, coalesce(hard_precision, 0), null), 10) as hard_precision,
    round(if(is_scored, hard_recall, null), 10) as hard_recall,
    round(precision, 10) as support_precision_or_null,
    round(n_cited_sentences / n_sentences, 10) as cited_share,
    round(n_missing / nullif(n_citations, 0), 10) as missing_share,
    grader || '/' || citations || '_citation' as label_set
from scores
