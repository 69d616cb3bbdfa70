with

recorded_graders as (
    select
        *,
        -- older graders of answers did not record it
        coalesce(
            if(target in ('question', 'nugget'), target, items),
            if(target = 'assign' or starts_with(prompt, 'nugget_'), 'nugget', 'question')
        ) as rubric_items
    from {{ ref('int_recorded_graders') }}
),

numbered_graders as (
    select
        graders.*,
        kinds.kind as asks_about,
        -- what of a rubric it looks at, or what else stands in the place of items
        coalesce(kinds.item_kind, if(kinds.items = 'queries', null, kinds.kind)) as item_kind,
        coalesce(kinds.target = graders.target, false) as is_grading,
        coalesce(kinds.texts = 'battles', false) as is_of_battles,
        row_number() over (
            partition by graders.grader
            order by graders.created_at desc, graders.grader_id desc
        ) as nth_newest
    from recorded_graders as graders
    left join {{ ref('judgment_kinds') }} as kinds
        on
            (
                graders.target = kinds.target
                or list_contains(string_split(kinds.also, ' '), graders.target)
            )
            and coalesce(kinds.item_kind, graders.rubric_items) = graders.rubric_items
)

select
    grader_id,
    case nth_newest
        when 1 then grader
        else grader || '@' || left(grader_id, 6)
    end as grader,
    grader as name,
    trial,
    trial_of,
    engine,
    model,
    prefix,
    target,
    asks_about,
    -- what of a rubric it grades. That an answer was extracted is no grade; that it is the right
    -- one is, so verifiers and answer keys grade, and only items with gold answers
    case
        when
            is_grading
            or target = 'verify'
            or ends_with(parser, 'answer_key')
            -- published grades of answer keys, whatever the keys were
            or is_verified
            then item_kind
    end as kind,
    -- in whose place a battle has the rubric, where it is shown
    target = 'verify' or ends_with(parser, 'answer_key') or (is_of_battles and shows_rubric)
        as needs_gold_answers,
    answers_from,
    scale_min,
    scale_max,
    label_rubric_id,
    created_at
from numbered_graders
