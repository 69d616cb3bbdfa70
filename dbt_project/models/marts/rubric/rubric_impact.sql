{{ config(materialized='view') }}

-- What each version of a rubric did to labels. Only queries whose rubric has other items than in
-- the version before are looked at.
with

versions as (
    select * from {{ ref('int_rubric_versions') }}
),

edits as (
    select * from {{ ref('int_rubric_edits') }}
),

grader_items as (
    select * from {{ ref('int_grader_items') }}
),

edited_queries as (
    select distinct
        collection,
        rubric_version,
        query_id
    from edits
),

items_before as (
    select grader_items.* replace (versions.rubric_version as rubric_version)
    from grader_items
    inner join versions
        on
            grader_items.collection = versions.collection
            and grader_items.rubric_version = versions.previous_version
    semi join edited_queries
        on
            versions.collection = edited_queries.collection
            and versions.rubric_version = edited_queries.rubric_version
            and grader_items.query_id = edited_queries.query_id
),

items_after as (
    select grader_items.*
    from grader_items
    semi join edited_queries using (collection, rubric_version, query_id)
),

-- of a rewording the old item leaves and the new one comes in
changed_items as (
    select
        items_before.*,
        false as has_come_in
    from items_before
    anti join items_after using (collection, grader_id, rubric_version, query_id, item_id)
    union all
    select
        items_after.*,
        true as has_come_in
    from items_after
    anti join items_before using (collection, grader_id, rubric_version, query_id, item_id)
),

changed_queries as (
    select distinct
        collection,
        grader,
        rubric_version,
        query_id
    from changed_items
),

-- which labels to compare, so that they are read once
compared_versions as (
    select
        changed_queries.*,
        changed_queries.rubric_version as label_version,
        true as is_after
    from changed_queries
    union all
    select
        changed_queries.*,
        versions.previous_version as label_version,
        false as is_after
    from changed_queries
    inner join versions using (collection, rubric_version)
),

compared_labels as (
    select
        labels.collection,
        labels.grader,
        labels.policy,
        compared_versions.rubric_version,
        labels.query_id,
        labels.passage_id,
        max(labels.label) filter (where not compared_versions.is_after) as label_before,
        max(labels.label) filter (where compared_versions.is_after) as label_after,
        max(labels.n_missing) filter (where not compared_versions.is_after) as n_missing_before,
        max(labels.n_missing) filter (where compared_versions.is_after) as n_missing_after
    from {{ ref('int_rubric_labels') }} as labels
    inner join compared_versions
        on
            labels.collection = compared_versions.collection
            and labels.grader = compared_versions.grader
            and labels.rubric_version = compared_versions.label_version
            and labels.query_id = compared_versions.query_id
    group by all
),

changed_labels as (
    select
        *,
        coalesce(label_after > label_before, label_before is null) as has_risen
    from compared_labels
    where label_before is distinct from label_after
),

-- a passage without a label misses the grade of every item
n_items_before as (
    select
        collection,
        grader,
        rubric_version,
        query_id,
        count(*) as n_items
    from items_before
    group by all
),

n_items_after as (
    select
        collection,
        grader,
        rubric_version,
        query_id,
        count(*) as n_items
    from items_after
    group by all
),

changed_item_grades as (
    select
        changed_items.*,
        item_grades.passage_id,
        item_grades.grade
    from {{ ref('int_item_grades') }} as item_grades
    inner join changed_items using (collection, grader_id, query_id, item_id)
),

-- A label falls with an item that left and rises with one that came in. (Under a mapping that does
-- not keep the order of labels it may be the other way round.)
causes as (
    select
        changed_labels.*,
        changed_item_grades.grader_id,
        changed_item_grades.item_id,
        changed_item_grades.item_text,
        changed_item_grades.has_come_in,
        changed_item_grades.grade
    from changed_labels
    inner join changed_item_grades using (collection, grader, rubric_version, query_id, passage_id)
    qualify
        row_number() over (
            partition by
                changed_labels.collection,
                changed_labels.grader,
                changed_labels.policy,
                changed_labels.rubric_version,
                changed_labels.query_id,
                changed_labels.passage_id
            order by
                changed_item_grades.has_come_in = changed_labels.has_risen desc,
                changed_item_grades.grade desc,
                changed_item_grades.item_id asc
        ) = 1
),

-- several banks may have the item
actions as (
    select
        collection,
        rubric_version,
        kind,
        query_id,
        item_id,
        false as has_come_in,
        min(action) as action
    from edits
    where action in ('drop', 'reword')
    group by all
    union all
    select
        collection,
        rubric_version,
        kind,
        query_id,
        coalesce(new_item_id, item_id) as item_id,
        true as has_come_in,
        min(action) as action
    from edits
    where action != 'drop'
    group by all
)

select
    causes.collection,
    causes.grader,
    causes.policy,
    causes.rubric_version,
    causes.query_id,
    causes.passage_id,
    causes.label_before,
    causes.label_after,
    causes.item_id,
    actions.action,
    causes.grade,
    coalesce(causes.n_missing_before, n_items_before.n_items, 0) as n_missing_before,
    coalesce(causes.n_missing_after, n_items_after.n_items, 0) as n_missing_after,
    causes.item_text as text
from causes
left join n_items_before using (collection, grader, rubric_version, query_id)
left join n_items_after using (collection, grader, rubric_version, query_id)
inner join {{ ref('int_graders') }} using (grader_id)
left join actions using (collection, rubric_version, query_id, item_id, has_come_in, kind)
