-- The raw schema: everything people and judges brought in, as they brought it.
-- DuckLake has no unique keys; the key of each table is named here, checked by the contracts
-- (sql/lake/contracts.py) on the way in and by dbt's data tests afterwards. Times are UTC.

create schema if not exists raw;

-- key: collection
create table raw.collections (
    collection varchar not null,
    source varchar not null,                 -- ir_datasets id, or 'files'
    min_relevant integer not null,           -- judgments at or above it count as relevant
    max_relevance integer not null,          -- top of the judgment scale
    default_pool_depth integer not null,
    leave_out_near_duplicates boolean not null,
    ingested_at timestamp not null
);

-- key: collection, query_id
create table raw.queries (
    collection varchar not null,
    query_id varchar not null,
    text varchar not null,
    description varchar,
    narrative varchar
);

-- key: collection, passage_id
create table raw.passages (
    collection varchar not null,
    passage_id varchar not null,
    text varchar not null,
    text_sha256 varchar not null,
    doc_id varchar,
    position integer,                        -- 1-based, within the document or response
    origin varchar not null                  -- 'corpus' or 'response'
);

-- key: collection, passage_id; a passage that is its own canonical one has no row
create table raw.near_duplicates (
    collection varchar not null,
    passage_id varchar not null,
    canonical_passage_id varchar not null
);

-- key: collection, system
create table raw.systems (
    collection varchar not null,
    system varchar not null,
    kind varchar not null,                   -- 'ranking' or 'generation'
    source_file varchar not null,
    file_sha256 varchar not null,
    n_rows bigint not null,
    ingested_at timestamp not null
);

-- key: collection, system, query_id, passage_id
create table raw.run_entries (
    collection varchar not null,
    system varchar not null,
    query_id varchar not null,
    passage_id varchar not null,
    rank integer,                            -- as submitted; never used for ranking
    score double not null
);

-- what a generated response cites; no key (a sentence may cite one passage twice)
create table raw.citations (
    collection varchar not null,
    system varchar not null,
    query_id varchar not null,
    passage_id varchar not null,             -- the response passage that cites
    sentence integer not null,               -- 1-based, within the response
    cited_passage_id varchar not null,
    confidence double
);

-- key: collection, assessor, query_id, passage_id
create table raw.judgments (
    collection varchar not null,
    assessor varchar not null,
    query_id varchar not null,
    passage_id varchar not null,
    relevance integer not null               -- may be negative
);

-- key: collection, leaderboard, system
create table raw.official_ranks (
    collection varchar not null,
    leaderboard varchar not null,
    system varchar not null,
    rank double not null,                    -- 1 is best; ties share the average
    score double
);

-- key: collection, bank, query_id, facet_id, item_id
create table raw.rubric_items (
    collection varchar not null,
    bank varchar not null,
    query_id varchar not null,
    facet_id varchar not null,               -- '' when the query has no facets
    item_id varchar not null,
    kind varchar not null,                   -- 'question' or 'nugget'
    text varchar not null,
    gold_answers varchar[],
    weight double not null,
    origin varchar not null,                 -- 'generated', 'manual' or 'imported'
    created_at timestamp not null
);

-- key: grader_id
create table raw.graders (
    grader_id varchar not null,
    name varchar not null,
    engine varchar not null,
    model varchar not null,
    model_revision varchar not null,
    prompt varchar not null,
    prompt_sha256 varchar not null,
    scale_min integer not null,
    scale_max integer not null,
    decoding varchar not null,               -- JSON
    parser varchar not null,
    created_at timestamp not null
);

-- key: grader_id, collection, query_id, passage_id, item_id
create table raw.grades (
    grader_id varchar not null,
    collection varchar not null,
    query_id varchar not null,
    passage_id varchar not null,
    item_id varchar not null,                -- '' for direct judges
    grade integer,                           -- null if failed
    status varchar not null,                 -- 'ok', 'unanswerable', 'defaulted' or 'failed'
    answer varchar,
    response varchar,
    expected_grade double,
    prompt_tokens integer,
    cached_tokens integer,
    completion_tokens integer,
    batch_id varchar not null,
    graded_at timestamp not null
);

-- key: batch_id
create table raw.grading_batches (
    batch_id varchar not null,
    grader_id varchar not null,
    collection varchar not null,
    planned bigint not null,
    ok bigint not null,
    defaulted bigint not null,
    failed bigint not null,
    tokens bigint not null,
    wall_seconds double not null,
    started_at timestamp not null,
    finished_at timestamp,
    state varchar not null
);

-- key: run_id
create table raw.pipeline_runs (
    run_id varchar not null,
    command varchar not null,
    arguments varchar not null,
    state varchar not null,                  -- 'running', 'done' or 'failed'
    counts varchar not null,                 -- JSON
    error varchar,
    started_at timestamp not null,
    finished_at timestamp
);

-- key: target. What was written last where: a repeat of the same content is a no-op.
create table raw.ledger (
    target varchar not null,                 -- e.g. dl19/judgments/nist
    sha256 varchar not null,
    n_rows bigint not null,
    run_id varchar not null,
    committed_at timestamp not null
);
