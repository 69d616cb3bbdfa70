{{ config(materialized='table') }}

with

labels as not materialized (
    select
        collection,
        'assessor:' || assessor as label_set,
        query_id,
        passage_id,
        relevance as label
    from {{ source('raw', 'judgments') }}
    union all by name
    select * from {{ ref('int_direct_labels') }}
    union all by name
    select
        collection,
        'clicks:COEC' as label_set,
        query_id,
        passage_id,
        label
    from {{ ref('click_labels') }}
    where label is not null
    union all by name
    select
        collection,
        label_set,
        query_id,
        passage_id,
        label,
        n_items,
        n_missing
    from {{ ref('int_rubric_labels') }}
),

members as (
    select
        collection,
        'hybrid:' || hybrid as hybrid_set,
        unnest([
            { 'label_set': 'assessor:' || assessor, 'mapping': null, 'place': 1 },
            { 'label_set': label_set, 'mapping': {{ mapping_as_map('mapping') }}, 'place': 2 }
        ], max_depth := 2)
    from {{ ref('hybrids') }}
),

panel_members as (
    select
        collection,
        'panel:' || panel as panel_set,
        rule,
        unnest(range(1, len(assessors) + 1)) as place,
        'assessor:' || unnest(assessors) as label_set,
        len(assessors) as n_items
    from (
        select * replace (regexp_split_to_array(trim(assessors), '\s+') as assessors)
        from {{ ref('panels') }}
    )
),

member_sets as (
    select
        collection,
        label_set
    from members
    union
    select
        collection,
        label_set
    from panel_members
),

member_labels as (
    select * from labels
    semi join member_sets using (collection, label_set)
),

-- people's judgment where there is one, else the judge's label, on the judgments' scale
hybrid_labels as (
    select
        labels.* replace (
            members.hybrid_set as label_set,
            cast({{ renamed('labels.label', 'members.mapping') }} as integer) as label
        )
    from member_labels as labels
    inner join members using (collection, label_set)
    qualify
        row_number() over (
            partition by labels.collection, members.hybrid_set, labels.query_id, labels.passage_id
            order by members.place
        ) = 1
),

-- who of a panel says what of a passage
votes as (
    select
        panel_members.collection,
        panel_members.panel_set,
        panel_members.rule,
        panel_members.n_items,
        labels.query_id,
        labels.passage_id,
        labels.label,
        count(*) as n_votes,
        max(panel_members.place) as last_place
    from member_labels as labels
    inner join panel_members using (collection, label_set)
    group by all
),

-- of as many votes the lower label; a mean in the middle is rounded up
panel_labels as (
    select
        collection,
        panel_set as label_set,
        query_id,
        passage_id,
        cast(case rule
            when 'majority' then arg_max(label, (n_votes, -label))
            when 'last' then arg_max(label, last_place)
            else floor(sum(label * n_votes) / sum(n_votes) + 0.5)
        end as integer) as label,
        n_items,
        cast(n_items - sum(n_votes) as bigint) as n_missing
    from votes
    group by collection, panel_set, rule, n_items, query_id, passage_id
),

all_labels as (
    select * from labels
    union all
    select * from hybrid_labels
    union all by name
    select * from panel_labels
)

select all_labels.*
from all_labels
anti join {{ ref('int_left_out_passages') }} using (collection, passage_id)
