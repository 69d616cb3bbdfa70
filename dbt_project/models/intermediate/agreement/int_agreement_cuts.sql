-- The ways to make two classes of the labels on either side. Labels below 0 count as 0.
with

confusions as (
    select * from {{ ref('int_confusions') }}
),

label_pairs as (
    select * from {{ ref('int_label_pairs') }}
),

labels as (
    select distinct
        collection,
        label_set,
        reference,
        greatest(label, 0) as label
    from confusions
),

judgments as (
    select distinct
        collection,
        label_set,
        reference,
        greatest(judgment, 0) as judgment
    from confusions
),

crossed as (
    select
        labels.*,
        judgments.judgment
    from labels
    inner join judgments using (collection, label_set, reference)
),

-- every cut of a short scale is asked for, also where no label is; of a long one those where labels
-- are, and the one at which boards begin
label_cuts as (
    select * from labels
    union
    select
        collection,
        label_set,
        reference,
        unnest(range(1, max_label + 1)) as label
    from label_pairs
    where max_label <= 9
    union
    select
        label_pairs.collection,
        label_pairs.label_set,
        label_pairs.reference,
        usual_levels.level as label
    from label_pairs
    inner join {{ ref('usual_levels') }} as usual_levels using (collection, label_set)
),

-- as of labels, and what people hold relevant
judgment_cuts as (
    select * from judgments
    union
    select
        collection,
        label_set,
        reference,
        unnest(range(1, max_reference + 1)) as judgment
    from label_pairs
    where
        assessor is not null
        and max_reference <= 9
    union
    select
        label_pairs.collection,
        label_pairs.label_set,
        label_pairs.reference,
        collections.min_relevant as judgment
    from label_pairs
    inner join {{ source('raw', 'collections') }} as collections using (collection)
    where label_pairs.assessor is not null
),

-- the label is at or above its cut, the reference at or above its own
binary_cuts as (
    select
        label_cuts.collection,
        label_cuts.label_set,
        label_cuts.reference,
        'binary' as kind,
        '>=' || label_cuts.label || '|>=' || judgment_cuts.judgment as cut,
        label_cuts.label as label_cut,
        judgment_cuts.judgment as reference_cut
    from label_cuts
    inner join judgment_cuts using (collection, label_set, reference)
    where
        label_cuts.label > 0
        and judgment_cuts.judgment > 0
),

levels as (
    select
        collection,
        label_set,
        reference,
        label as level
    from labels
    union
    select
        collection,
        label_set,
        reference,
        judgment as level
    from judgments
    union
    -- of an assessor's short scale every cut is asked for, also where no label is
    select
        collection,
        label_set,
        reference,
        unnest(range(1, max_label + 1)) as level
    from label_pairs
    where
        assessor is not null
        and is_common_scale
        and max_label <= 9
),

-- both at the same cut of the scale that they share: 0|1-3, 0-1|2-3
collapsed_cuts as (
    select
        label_pairs.collection,
        label_pairs.label_set,
        label_pairs.reference,
        'collapsed' as kind,
        case levels.level when 1 then '0' else '0-' || (levels.level - 1) end
        || '|'
        || case levels.level when label_pairs.max_label then '' else levels.level || '-' end
        || label_pairs.max_label as cut,
        levels.level as label_cut,
        levels.level as reference_cut
    from label_pairs
    inner join levels using (collection, label_set, reference)
    where
        label_pairs.is_common_scale
        and levels.level between 1 and label_pairs.max_label
),

-- one label against the rest, one judgment against the rest: the boxed cells of RUBRIC's tables
boxed_cuts as (
    select
        collection,
        label_set,
        reference,
        'boxed' as kind,
        '=' || label || '|=' || judgment as cut,
        label as label_cut,
        judgment as reference_cut
    from crossed
)

select * from binary_cuts
union all
select * from collapsed_cuts
union all
select * from boxed_cuts
