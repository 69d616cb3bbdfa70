-- A sentence that cites nothing has one row, without a passage.
with

graders as (
    select * from {{ ref('graders') }}
    where kind = 'sentence'
),

citations as (
    select * from {{ ref('int_citations') }}
),

labels as (
    select
        item_grades.collection,
        graders.grader,
        item_grades.query_id,
        item_grades.item_id,
        item_grades.passage_id as cited_passage_id,
        (item_grades.grade - graders.scale_min) / (graders.scale_max - graders.scale_min) as weight
    from {{ ref('int_item_grades') }} as item_grades
    inner join graders using (grader_id)
    union all
    select
        collection,
        'assessor:' || assessor as grader,
        query_id,
        item_id,
        cited_passage_id,
        support / 2 as weight
    from {{ source('raw', 'support_judgments') }}
),

graders_at_work as (
    select
        collection,
        grader
    from labels
    union
    -- one that was asked where the lake has no text of anything cited has said all there is to say
    select
        runs.collection,
        graders.grader
    from {{ source('raw', 'grading_runs') }} as runs
    inner join graders using (grader_id)
    where runs.collection not in (
        select citations.collection from citations
        where citations.text_sha256 is not null
    )
),

cited as (
    select
        sentences.*,
        citations.citation,
        citations.cited_passage_id,
        citations.times,
        citations.cited_text,
        citations.text_sha256 is not null as is_in_lake
    from {{ ref('int_sentences') }} as sentences
    left join citations using (collection, system, query_id, sentence, item_id)
),

labelled as (
    select
        cited.*,
        graders_at_work.grader,
        labels.weight
    from cited
    inner join graders_at_work using (collection)
    left join labels using (collection, grader, query_id, item_id, cited_passage_id)
)

select
    collection,
    grader,
    system,
    query_id,
    sentence,
    item_id,
    sentence_text,
    cast(citation as integer) as citation,
    cited_passage_id,
    cast(times as integer) as times,
    cited_text,
    case when cited_passage_id is not null then is_in_lake end as is_in_lake,
    case
        when weight = 1 then 'full'
        when weight = 0 then 'none'
        when weight is not null then 'partial'
    end as support,
    round(weight, 10) as weight
from labelled
