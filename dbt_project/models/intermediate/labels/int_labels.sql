{{ config(materialized='table') }}

with

labels as not materialized (
    select
        collection,
        'assessor:' || assessor as label_set,
        query_id,
        passage_id,
        relevance as label,
        gain
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
    select * from {{ ref('int_label_set_members') }}
),

member_labels as (
    select * from labels
    semi join members
        on labels.collection = members.collection and labels.label_set = members.member
),

-- people's judgment where there is one, else the judge's label, on the judgments' scale
hybrid_labels as (
    select
        labels.* replace (
            members.label_set as label_set,
            cast({{ renamed('labels.label', 'members.mapping') }} as integer) as label,
            cast(null as double) as gain
        )
    from member_labels as labels
    inner join members
        on labels.collection = members.collection and labels.label_set = members.member
    where members.rule = 'first'
    qualify
        row_number() over (
            partition by labels.collection, members.label_set, labels.query_id, labels.passage_id
            order by members.place
        ) = 1
),

-- who of a panel says what of a passage
votes as (
    select
        members.collection,
        members.label_set,
        members.rule,
        members.n_members as n_items,
        labels.query_id,
        labels.passage_id,
        labels.label,
        count(*) as n_votes,
        max(members.place) as last_place
    from member_labels as labels
    inner join members
        on labels.collection = members.collection and labels.label_set = members.member
    where members.rule != 'first'
    group by all
),

-- of as many votes the lower label; a mean in the middle is rounded up
panel_labels as (
    select
        collection,
        label_set,
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
    group by collection, label_set, rule, n_items, query_id, passage_id
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
