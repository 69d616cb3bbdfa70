-- How probable graders hold a grade of a cut or more for what people judged, passage by passage. Of
-- a rubric it is that of the passage's most probable item: the passage reaches the cut where any
-- item does, which is at least as probable as its likeliest item, whatever they have in common, and
-- no more so where they come and go together.
with

graders as (
    select
        graders.*,
        kinds.items = 'queries' as is_direct
    from {{ ref('graders') }} as graders
    inner join {{ ref('judgment_kinds') }} as kinds on graders.asks_about = kinds.kind
    where
        kinds.texts = 'pool'
        and (is_direct or graders.kind is not null)
),

distributions as (
    select
        grades.collection,
        grades.grader_id,
        graders.grader,
        graders.is_direct,
        graders.scale_min,
        grades.query_id,
        grades.passage_id,
        grades.item_id,
        grades.gold_sha256,
        grades.scale_mass,
        -- of two grades the mean tells both probabilities
        coalesce(
            grades.probabilities,
            case
                when graders.scale_max = graders.scale_min + 1
                    then [
                        graders.scale_max - grades.expected_grade,
                        grades.expected_grade - graders.scale_min
                    ]
            end
        ) as probabilities
    from {{ ref('int_grades') }} as grades
    inner join graders using (grader_id)
    semi join {{ source('raw', 'judgments') }} as judgments
        on
            grades.collection = judgments.collection
            and grades.query_id = judgments.query_id
            and grades.passage_id = judgments.passage_id
    anti join {{ ref('int_left_out_passages') }} as left_out
        on
            grades.collection = left_out.collection
            and grades.passage_id = left_out.passage_id
    where
        grades.grade is not null
        and graders.is_direct = (grades.item_id = '')
),

places as (
    select
        *,
        unnest(range(2, len(probabilities) + 1)) as place
    from distributions
    where probabilities[1] is not null
),

held as (
    select
        *,
        cast(scale_min + place - 1 as integer) as cut,
        round(least(list_sum(probabilities[place:]), 1), 10) as probability
    from places
)

select
    collection,
    grader,
    cast(null as integer) as rubric_version,
    query_id,
    passage_id,
    cut,
    probability,
    scale_mass
from held
where is_direct
union all by name
select
    held.collection,
    held.grader,
    items.rubric_version,
    held.query_id,
    held.passage_id,
    held.cut,
    max(held.probability) as probability,
    round(avg(held.scale_mass), 10) as scale_mass
from held
inner join {{ ref('grader_items') }} as items
    on
        held.collection = items.collection
        and held.grader_id = items.grader_id
        and held.query_id = items.query_id
        and held.item_id = items.item_id
        and held.gold_sha256 is not distinct from items.gold_sha256
group by all
