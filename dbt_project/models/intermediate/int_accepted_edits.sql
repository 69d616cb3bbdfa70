-- Built only when the tests of the edits pass: a wrong row reaches nothing that reads edits.
-- The tests look at what an edit names; naming it here puts them before this model:
-- depends_on: {{ ref('int_ingested_items') }}
-- depends_on: {{ ref('stg_queries') }}
with

rubric_edits as (
    select * from {{ ref('stg_rubric_edits') }}
)

select
    rubric_version,
    dense_rank() over (partition by collection order by rubric_version) as nth_version,
    collection,
    bank,
    case
        when action = 'add' then {{ item_id('query_id', "''", 'item_text') }}
        else item_id
    end as item_id,
    action,
    query_id,
    kind,
    item_text,
    nullif(gold_answers, []) as gold_answers,
    weight,
    editor,
    reason
from rubric_edits
