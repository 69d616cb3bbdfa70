with

numbered_graders as (
    select
        *,
        row_number() over (
            partition by grader
            order by created_at desc, grader_id desc
        ) as nth_newest,
        case
            when target = 'direct' then 'passage'
            when target = 'assign' then if(items = 'criterion', items, 'answer')
            when target = 'support' then 'sentence'
            when target = 'battle' then 'battle'
            when target in ('question', 'nugget') then target
            -- older graders of answers did not record it
            when target in ('extract', 'verify')
                then coalesce(items, if(starts_with(prompt, 'nugget_'), 'nugget', 'question'))
        end as asks_about
    from {{ ref('stg_graders') }}
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
            target in ('question', 'nugget', 'verify')
            or ends_with(parser, 'answer_key')
            -- published grades of answer keys, whatever the keys were
            or is_verified
            then asks_about
        when target = 'assign' then if(items = 'criterion', items, 'nugget')
        when target = 'support' then 'sentence'
        when target = 'battle' then 'battle'
    end as kind,
    -- in whose place a battle has the rubric, where it is shown
    target = 'verify' or ends_with(parser, 'answer_key') or (target = 'battle' and shows_rubric)
        as needs_gold_answers,
    answers_from,
    scale_min,
    scale_max,
    label_rubric_id,
    created_at
from numbered_graders
