with

labels as (
    select * from {{ ref('int_labels') }}
),

-- both on a scale from 0 to 1; null when nobody can say where the scale ends
judgments as (
    select
        labels.collection,
        regexp_extract(labels.label_set, '^assessor:(.*)$', 1) as assessor,
        labels.query_id,
        labels.passage_id,
        labels.label as judgment,
        case
            when collections.max_relevance > 0
                then greatest(0, least(1, labels.label / collections.max_relevance))
        end as share
    from labels
    inner join {{ source('raw', 'collections') }} as collections using (collection)
    where starts_with(labels.label_set, 'assessor:')
),

predictions as (
    select
        labels.*,
        label_sets.grader,
        label_sets.rubric_version,
        case
            when label_sets.max_label > 0
                then greatest(0, least(1, labels.label / label_sets.max_label))
        end as share
    from labels
    inner join {{ ref('label_sets') }} as label_sets using (collection, label_set)
    where label_sets.kind not in ('assessor', 'hybrid', 'panel')
),

gaps as (
    select
        predictions.*,
        judgments.assessor,
        judgments.judgment,
        round(abs(predictions.share - judgments.share), 10) as gap
    from predictions
    inner join judgments using (collection, query_id, passage_id)
    where round(abs(predictions.share - judgments.share), 10) >= 0.5
),

-- what speaks for the passage; of equally good items that with the greatest id
explained_gaps as (
    select
        gaps.collection,
        gaps.label_set,
        gaps.grader,
        gaps.rubric_version,
        gaps.assessor,
        gaps.query_id,
        gaps.passage_id,
        gaps.label,
        gaps.judgment,
        gaps.gap,
        arg_max(
            struct_pack(
                id := grader_items.item_id,
                text := grader_items.item_text,
                answer := item_grades.answer,
                answered_by := item_grades.answered_by
            ),
            (item_grades.grade, grader_items.item_id)
        ) filter (where item_grades.grade is not null) as best_item
    from gaps
    left join {{ ref('grader_items') }} as grader_items
        using (collection, grader, rubric_version, query_id)
    left join {{ ref('int_answered_grades') }} as item_grades
        on
            {{ is_of_item('item_grades', 'grader_items') }}
            and gaps.passage_id = item_grades.passage_id
    group by all
)

select
    explained_gaps.* exclude (best_item) replace (
        cast(explained_gaps.label as integer) as label
    ),
    explained_gaps.best_item.id as best_item_id,
    explained_gaps.best_item.text as best_item_text,
    explained_gaps.best_item.answer as best_answer,
    explained_gaps.best_item.answered_by as best_answer_by,
    passages.passage_text as text
from explained_gaps
left join {{ ref('int_passage_texts') }} as passages using (collection, passage_id)
order by
    explained_gaps.gap desc,
    explained_gaps.collection asc,
    explained_gaps.label_set asc,
    explained_gaps.assessor asc,
    explained_gaps.query_id asc,
    explained_gaps.passage_id asc
