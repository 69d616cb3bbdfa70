create table raw.replies (
    reply_id varchar not null,
    asked varchar,
    grader_id varchar not null,
    collection varchar not null,
    purpose varchar not null,
    round varchar not null,
    run_id varchar not null,
    chunk_id varchar not null,
    query_id varchar,
    passage_id varchar,
    item_id varchar,
    attempt integer not null,
    state varchar not null,
    reply varchar,
    error varchar,
    reasoning varchar,
    finish varchar,
    probabilities double[],
    constrained_probabilities boolean not null,
    prompt_tokens bigint,
    cached_tokens bigint,
    completion_tokens bigint,
    cut_characters bigint not null,
    seconds double not null,
    in_batch boolean not null,
    asked_at timestamp not null,
    is_read boolean not null
);
alter table raw.grades add column failure varchar;
alter table raw.sentinel_grades add column failure varchar;
update raw.grades
set
    failure = case
        when response is not null then 'unreadable'
        when starts_with(error, 'the model refused') or contains(error, 'content filter')
            then 'refused'
        else 'no_reply'
    end
where status = 'failed';
update raw.sentinel_grades
set
    failure = case
        when response is not null then 'unreadable'
        when starts_with(error, 'the model refused') or contains(error, 'content filter')
            then 'refused'
        else 'no_reply'
    end
where status = 'failed';
-- what models were asked before there was a log, as grades tell it: what shares another's prompt
-- took no tokens, and what a file brought was paid elsewhere
insert into raw.replies by name
with

models as (
    select grader_id
    from raw.graders
    where engine not in ('imported', 'lexical')
),

imports as (
    select run_id
    from raw.pipeline_runs
    where starts_with(command, 'import ')
),

told as (
    select
        collection,
        grader_id,
        run_id,
        query_id,
        passage_id,
        item_id,
        response,
        error,
        prompt_tokens,
        cached_tokens,
        completion_tokens,
        cut_characters,
        graded_at,
        'grade' as purpose,
        '' as round
    from raw.grades
    union all by name
    select
        collection,
        grader_id,
        run_id,
        query_id,
        passage_id,
        item_id,
        response,
        error,
        prompt_tokens,
        cached_tokens,
        completion_tokens,
        cut_characters,
        graded_at,
        if(starts_with(sentinel, 'probe/'), 'probe', 'sentinel') as purpose,
        sentinel || '/' || round as round
    from raw.sentinel_grades
)

select
    uuid()::varchar as reply_id,
    null::varchar as asked,
    told.grader_id,
    told.collection,
    told.purpose,
    told.round,
    told.run_id,
    '' as chunk_id,
    told.query_id,
    told.passage_id,
    told.item_id,
    1 as attempt,
    if(told.response is null, 'failed', 'answered') as state,
    told.response as reply,
    if(told.response is null, told.error, null) as error,
    false as constrained_probabilities,
    told.prompt_tokens,
    told.cached_tokens,
    told.completion_tokens,
    coalesce(told.cut_characters, 0) as cut_characters,
    0 as seconds,
    told.run_id in (select submissions.submission_id from raw.submissions) as in_batch,
    told.graded_at as asked_at,
    true as is_read
from told
semi join models on told.grader_id = models.grader_id
anti join imports on told.run_id = imports.run_id
where
    told.prompt_tokens > 0
    or told.completion_tokens > 0
    or (told.prompt_tokens is null and told.response is not null);
