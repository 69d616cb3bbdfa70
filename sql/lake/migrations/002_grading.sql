-- What grading records beside a grade: what was graded, how it was cut, and why it failed.

-- hash of the text that was graded: a passage whose text changes is graded again. Null: unknown,
-- the grade counts whatever the text
alter table raw.grades add column passage_sha256 varchar;
-- hash of the query's text, where the prompt names the query; null elsewhere
alter table raw.grades add column query_sha256 varchar;
-- probability the model itself gave to all words of the scale together
alter table raw.grades add column scale_mass double;
-- how much of the passage's end did not fit the model; 0: it was read whole
alter table raw.grades add column cut_characters integer;
-- why a failed pair failed
alter table raw.grades add column error varchar;

-- key: grader_id. Made anew, because a column that must be filled cannot be added to a table.
create table raw.graders_with_prompt (
    grader_id varchar not null,
    name varchar not null,
    engine varchar not null,
    model varchar not null,
    model_revision varchar not null,
    target varchar not null,                 -- question, nugget, direct, extract, verify, generate
    prompt varchar not null,
    prompt_sha256 varchar not null,
    prompt_text varchar,                     -- null when it is not known
    scale_min integer not null,
    scale_max integer not null,
    decoding varchar not null,               -- JSON
    parser varchar not null,
    created_at timestamp not null
);

insert into raw.graders_with_prompt by name
select
    grader_id,
    name,
    engine,
    model,
    model_revision,
    'direct' as target,
    prompt,
    prompt_sha256,
    scale_min,
    scale_max,
    decoding,
    parser,
    created_at
from raw.graders;

drop table raw.graders;

alter table raw.graders_with_prompt rename to graders;

-- key: batch_id. Nothing wrote to it before.
drop table raw.grading_batches;

create table raw.grading_batches (
    batch_id varchar not null,
    grader_id varchar not null,
    collection varchar not null,
    planned bigint not null,
    ok bigint not null,
    unanswerable bigint not null,
    defaulted bigint not null,
    failed bigint not null,
    reused bigint not null,                  -- prompt and passage text graded under another id
    tokens bigint not null,                  -- of prompts and replies
    cached_tokens bigint not null,           -- those of the prompts that the engine had cached
    wall_seconds double not null,
    started_at timestamp not null,
    finished_at timestamp,
    state varchar not null                   -- 'running', 'done', 'stopped' or 'failed'
);
