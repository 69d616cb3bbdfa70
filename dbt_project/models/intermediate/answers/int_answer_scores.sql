-- Where nobody looked into an answer a measure of it is null, and it has none.
with

measures as (
    select * from {{ ref('measures') }}
)

{% for kind, scores in [
    ('nuggets', ref('nugget_scores')),
    ('criteria', ref('criteria_scores')),
    ('support', ref('support_scores')),
    ('battles', ref('int_battle_scores')),
] -%}
    select
        scores.collection,
        scores.label_set,
        scores.system,
        scores.query_id,
        measures.measure,
        {{ measure_value([kind]) }} as value
    from {{ scores }} as scores
    inner join measures on measures.kind = '{{ kind }}'
    where value is not null
    union all
{% endfor -%}
select
    collection,
    label_set,
    system,
    query_id,
    measure,
    value
from {{ ref('int_brought_scores') }}
