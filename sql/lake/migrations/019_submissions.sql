-- Grades that a provider makes in batches, within a day and for less: what was sent to it, and what
-- of that is still to come. A submission that was collected is also a batch of raw.grading_batches.

-- key: submission_id
create table raw.submissions (
    submission_id varchar not null,          -- made here, before anything is sent
    grader_id varchar not null,
    collection varchar not null,
    base_url varchar not null,
    provider_id varchar,                     -- the provider's name of the batch
    n_pairs bigint not null,
    n_prompts bigint not null,
    reserved double,                         -- what it may cost at most; null: there was no price
    -- under way: intended (perhaps the provider has it), submitted; over: collected, expired or
    -- cancelled (with what was answered), failed, withdrawn (never sent)
    state varchar not null,
    reason varchar,                          -- why it failed
    began_at timestamp not null,
    finished_at timestamp
);

-- The pairs of submissions under way; and those whose prompt was not answered (`error`), until they
-- have a grade. They are asked about again.
-- key: submission_id, query_id, passage_id, item_id
create table raw.submitted_pairs (
    submission_id varchar not null,
    prompt_no bigint not null,               -- 0-based; pairs with the same one share a prompt
    is_leader boolean not null,              -- the first pair of its prompt
    query_id varchar not null,
    passage_id varchar not null,
    item_id varchar not null,
    passage_sha256 varchar not null,         -- as in raw.grades
    query_sha256 varchar,
    gold_sha256 varchar,
    gold_answers varchar[],                  -- that the reply will be compared with
    passage_characters bigint not null,      -- in the prompt
    cut_characters bigint not null,          -- of the passage's end
    error varchar,
    most_characters bigint,                  -- of the passage, next time; null: as many as now
    prompt_tokens bigint,                    -- of the try in vain, of leaders
    cached_tokens bigint,
    completion_tokens bigint
);

-- It gets a column; what reads it makes it anew.
drop view if exists intermediate.int_prices;
