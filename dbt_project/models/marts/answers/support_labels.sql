-- A sentence that cites nothing has one row, without a passage.
with

graders as (
    select * from {{ ref('int_graders') }}
    where kind = 'sentence'
),

item_grades as (
    select * from {{ ref('int_item_grades') }}
    semi join graders using (grader_id)
),

graders_at_work as (
    select distinct
        item_grades.collection,
        graders.grader_id,
        graders.grader,
        graders.scale_min,
        graders.scale_max
    from item_grades
    inner join graders using (grader_id)
),

cited as (
    select
        sentences.*,
        citations.citation,
        citations.cited_passage_id,
        citations.cited_text,
        citations.text_sha256 is not null as is_in_lake
    from {{ ref('stg_sentences') }} as sentences
    left join {{ ref('int_citations') }} as citations
        using (collection, system, query_id, sentence, item_id)
),

labelled as (
    select
        cited.*,
        graders_at_work.grader,
        (item_grades.grade - graders_at_work.scale_min)
        / (graders_at_work.scale_max - graders_at_work.scale_min) as weight
    from cited
    inner join graders_at_work using (collection)
    left join item_grades
        on
            cited.collection = item_grades.collection
            and graders_at_work.grader_id = item_grades.grader_id
            and cited.query_id = item_grades.query_id
            and cited.cited_passage_id = item_grades.passage_id
            and cited.item_id = item_grades.item_id
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
    cited_text,
    case when cited_passage_id is not null then is_in_lake end as is_in_lake,
    case
        when weight = 1 then 'full'
        when weight = 0 then 'none'
        when weight is not null then 'partial'
    end as support,
    round(weight, 10) as weight
from labelled
