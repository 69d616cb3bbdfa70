alter table raw.replies add column prompt_bytes bigint;
alter table raw.replies add column pairs varchar;
-- what was tried in vain waits for its grade, as what is under way does
update raw.replies
set is_read = false
from raw.submitted_pairs
where
    replies.run_id = submitted_pairs.submission_id
    and replies.query_id = submitted_pairs.query_id
    and replies.passage_id = submitted_pairs.passage_id
    and replies.item_id = submitted_pairs.item_id
    and replies.state = 'failed'
    and submitted_pairs.error is not null;
insert into raw.replies by name
with

prompts as (
    select
        submission_id,
        prompt_no,
        arg_min(query_id, not is_leader) as query_id,
        arg_min(passage_id, not is_leader) as passage_id,
        arg_min(item_id, not is_leader) as item_id,
        any_value(error) as error,
        any_value(cut_characters) as cut_characters,
        max(prompt_tokens) as prompt_tokens,
        max(cached_tokens) as cached_tokens,
        max(completion_tokens) as completion_tokens,
        list(
            {
                'query_id': query_id,
                'passage_id': passage_id,
                'item_id': item_id,
                'passage_sha256': passage_sha256,
                'query_sha256': query_sha256,
                'gold_sha256': gold_sha256,
                'gold_answers': gold_answers
            }
            order by not is_leader, query_id, passage_id, item_id
        ) as pairs
    from raw.submitted_pairs
    group by submission_id, prompt_no
)

select
    prompts.submission_id || '-' || prompts.prompt_no as reply_id,
    submissions.grader_id,
    submissions.collection,
    'grade' as purpose,
    '' as round,
    prompts.submission_id as run_id,
    prompts.submission_id as chunk_id,
    prompts.query_id,
    prompts.passage_id,
    prompts.item_id,
    1 as attempt,
    if(prompts.error is null, 'under way', 'failed') as state,
    prompts.error,
    false as constrained_probabilities,
    prompts.prompt_tokens,
    prompts.cached_tokens,
    prompts.completion_tokens,
    prompts.cut_characters,
    0 as seconds,
    true as in_batch,
    coalesce(submissions.finished_at, submissions.began_at) as asked_at,
    false as is_read,
    if(prompts.error is null, to_json(prompts.pairs)::varchar, null) as pairs
from prompts
inner join raw.submissions as submissions using (submission_id)
anti join raw.replies as replies
    on
        prompts.submission_id = replies.run_id
        and prompts.query_id = replies.query_id
        and prompts.passage_id = replies.passage_id
        and prompts.item_id = replies.item_id;
drop table raw.submitted_pairs;
alter table raw.submissions rename to batches;
alter table raw.batches rename column submission_id to batch_id;
