-- What each version of a rubric did to labels. Only queries whose rubric has other items than in
-- the version before are looked at.
with

edits as (
    select * from {{ ref('int_rubric_edits') }}
),

-- each query that a version edits, on two sides: in that version, and in the one before
sides as (
    select distinct
        edits.collection,
        edits.rubric_version,
        edits.query_id,
        sides.is_after,
        if(sides.is_after, edits.rubric_version, versions.previous_version) as side_version
    from edits
    inner join {{ ref('int_rubric_versions') }} as versions using (collection, rubric_version)
    cross join (values (true), (false)) as sides (is_after)
),

items as (
    select
        grader_items.* replace (sides.rubric_version as rubric_version),
        sides.is_after
    from {{ ref('grader_items') }} as grader_items
    inner join sides using (collection, query_id)
    where grader_items.rubric_version = sides.side_version
),

item_counts as (
    select
        collection,
        grader,
        rubric_version,
        query_id,
        count(*) filter (where not is_after) as n_before,
        count(*) filter (where is_after) as n_after
    from items
    group by all
),

-- what stands on one side only; of a rewording the old item leaves and the new one comes in, and so
-- does, for graders that compare with them, an item of other gold answers
changed_items as (
    select * from items
    qualify
        count(*) over (
            partition by collection, grader_id, rubric_version, query_id, item_id, gold_sha256
        ) = 1
),

compared_labels as (
    select
        labels.collection,
        labels.grader,
        labels.policy,
        sides.rubric_version,
        labels.query_id,
        labels.passage_id,
        max(labels.label) filter (where not sides.is_after) as label_before,
        max(labels.label) filter (where sides.is_after) as label_after,
        max(labels.n_missing) filter (where not sides.is_after) as n_missing_before,
        max(labels.n_missing) filter (where sides.is_after) as n_missing_after
    from {{ ref('int_rubric_labels') }} as labels
    inner join sides using (collection, query_id)
    semi join changed_items
        on
            labels.collection = changed_items.collection
            and labels.grader = changed_items.grader
            and sides.rubric_version = changed_items.rubric_version
            and labels.query_id = changed_items.query_id
    where labels.rubric_version = sides.side_version
    group by all
),

changed_labels as (
    select
        *,
        coalesce(label_after > label_before, label_before is null) as has_risen
    from compared_labels
    where label_before is distinct from label_after
),

changed_item_grades as (
    select
        changed_items.*,
        item_grades.passage_id,
        item_grades.grade
    from {{ ref('int_item_grades') }} as item_grades
    inner join changed_items using (collection, grader_id, query_id, item_id)
    where item_grades.gold_sha256 is not distinct from changed_items.gold_sha256
),

-- A label falls with an item that left and rises with one that came in. (Under a mapping that does
-- not keep the order of labels it may be the other way round.)
causes as (
    select
        changed_labels.*,
        changed_item_grades.kind,
        changed_item_grades.item_id,
        changed_item_grades.item_text,
        changed_item_grades.is_after,
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
                changed_item_grades.is_after = changed_labels.has_risen desc,
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
        false as is_after,
        min(action) as action
    from edits
    where action in ('drop', 'reword', 'reanswer')
    group by all
    union all
    select
        collection,
        rubric_version,
        kind,
        query_id,
        coalesce(new_item_id, item_id) as item_id,
        true as is_after,
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
    -- a passage without a label misses the grade of every item
    coalesce(causes.n_missing_before, item_counts.n_before) as n_missing_before,
    coalesce(causes.n_missing_after, item_counts.n_after) as n_missing_after,
    causes.item_text as text
from causes
inner join item_counts using (collection, grader, rubric_version, query_id)
left join actions using (collection, rubric_version, query_id, item_id, is_after, kind)
