-- Rubrics of labels that a model distilled from judged pairs, and the graders that judge by them.

-- key: rubric_id, iteration, label; the last iteration is the rubric, those before led to it
create table raw.label_rubrics (
    rubric_id varchar not null,              -- hash of all that it was made of, and of its texts
    name varchar not null,
    collection varchar not null,             -- where the pairs come from
    assessor varchar not null,               -- whose judgments were explained
    grader_id varchar not null,              -- who explained and distilled
    engine varchar not null,
    model varchar not null,
    distil_prompt varchar not null,
    distil_prompt_sha256 varchar not null,
    seed bigint not null,
    iteration integer not null,              -- 1-based
    label integer not null,
    text varchar not null,
    n_explanations integer not null,         -- that were read in this iteration
    created_at timestamp not null
);

-- key: rubric_id, query_id, passage_id. Agreement with a grader is never measured on these.
create table raw.label_rubric_pairs (
    rubric_id varchar not null,
    collection varchar not null,
    query_id varchar not null,
    passage_id varchar not null,
    label integer not null,                  -- the judgment; below 0 counts as 0
    explanation varchar                      -- JSON, feature -> text; null where none could be had
);

-- the rubric in a grader's prompt; null where it has none
alter table raw.graders add column label_rubric_id varchar;
