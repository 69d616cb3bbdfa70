{{ config(materialized='table') }}

-- A judge and two people on the passages that all three labelled: no judge can be expected to agree
-- more with people than these do with each other.
with

label_pairs as (
    select * from {{ ref('int_label_pairs') }}
),

labels as (
    select * from {{ ref('int_labels') }}
),

trios as (
    select
        one.collection,
        one.label_set as judge,
        one.reference as person,
        other.reference as other_person,
        one.is_common_scale and other.is_common_scale as is_common_scale
    from label_pairs as one
    inner join label_pairs as other using (collection, label_set)
    where
        one.reference < other.reference
        and one.assessor is not null
        and other.assessor is not null
        and not starts_with(one.label_set, 'assessor:')
),

judgments as (
    select labels.* from labels
    semi join label_pairs
        on
            labels.collection = label_pairs.collection
            and labels.label_set = label_pairs.reference
            and label_pairs.assessor is not null
),

people as (
    select
        one.collection,
        one.query_id,
        one.passage_id,
        one.label_set as person,
        other.label_set as other_person,
        one.label as judgment,
        other.label as other_judgment
    from judgments as one
    inner join judgments as other using (collection, query_id, passage_id)
    where one.label_set < other.label_set
),

-- what a judge's label rubrics were distilled from says nothing about its agreement
together as (
    select
        trios.collection,
        trios.judge,
        trios.person,
        trios.other_person,
        labels.label,
        people.judgment,
        people.other_judgment,
        count(*) as n
    from labels
    inner join people using (collection, query_id, passage_id)
    inner join trios using (collection, person, other_person)
    left join {{ ref('sampled_pairs') }} as sampled_pairs
        using (collection, label_set, query_id, passage_id)
    where
        labels.label_set = trios.judge
        and sampled_pairs.passage_id is null
    group by all
),

-- each two of the three
meetings as (
    select
        * exclude (label, judgment, other_judgment),
        unnest([
            { 'label_set': judge, 'reference': person, 'label': label, 'judgment': judgment },
            {
                'label_set': judge,
                'reference': other_person,
                'label': label,
                'judgment': other_judgment
            },
            {
                'label_set': person,
                'reference': other_person,
                'label': judgment,
                'judgment': other_judgment
            }
        ]) as meeting
    from together
),

cells as (
    select
        meetings.collection,
        meetings.judge,
        meetings.person,
        meetings.other_person,
        meetings.n,
        meetings.meeting.label_set,
        meetings.meeting.reference,
        meetings.meeting.label,
        meetings.meeting.judgment
    from meetings
),

-- what boards take as relevant: people's from the collection's min_relevant on
levels as (
    select
        usual_levels.collection,
        usual_levels.label_set,
        case
            when starts_with(usual_levels.label_set, 'assessor:') then collections.min_relevant
            else usual_levels.level
        end as level
    from {{ ref('usual_levels') }} as usual_levels
    inner join {{ source('raw', 'collections') }} as collections using (collection)
),

cuts as (
    select
        label_pairs.collection,
        label_pairs.label_set,
        label_pairs.reference,
        'binary' as kind,
        '' as cut,
        ours.level as label_cut,
        theirs.level as reference_cut
    from label_pairs
    inner join levels as ours using (collection, label_set)
    inner join levels as theirs
        on
            label_pairs.collection = theirs.collection
            and label_pairs.reference = theirs.label_set
),

kappas as (
    {{ kappas(
        'cells',
        ['collection', 'judge', 'person', 'other_person', 'label_set', 'reference'],
        'cuts'
    ) }}
),

compared as (
    select
        collection,
        judge,
        person,
        other_person,
        kind,
        max(n) as n,
        max(label_cut) filter (where label_set = judge) as label_cut,
        max(reference_cut) filter (where label_set = judge) as reference_cut,
        max(kappa) filter (where label_set = judge and reference = person) as kappa_assessor,
        max(kappa) filter (where label_set = judge and reference = other_person) as kappa_other,
        max(kappa) filter (where label_set = person) as kappa_people
    from kappas
    group by all
)

select
    compared.collection,
    compared.judge as label_set,
    substr(compared.person, 10) as assessor,
    substr(compared.other_person, 10) as other_assessor,
    compared.kind,
    cast(compared.label_cut as integer) as label_cut,
    cast(compared.reference_cut as integer) as reference_cut,
    cast(compared.n as bigint) as n,
    round(compared.kappa_assessor, 10) as kappa_assessor,
    round(compared.kappa_other, 10) as kappa_other,
    round(compared.kappa_people, 10) as kappa_people,
    round(
        compared.kappa_people - (compared.kappa_assessor + compared.kappa_other) / 2, 10
    ) as shortfall
from compared
inner join trios using (collection, judge, person, other_person)
-- of all labels where all three share a scale
where compared.kind = 'binary' or trios.is_common_scale
