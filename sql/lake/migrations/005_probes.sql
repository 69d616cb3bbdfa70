create table raw.probe_variants (
    collection varchar not null,
    sentinel varchar not null,
    query_id varchar not null,
    passage_id varchar not null,
    original_id varchar not null,
    attack varchar not null,
    is_relevant boolean not null,
    rubric_version integer
);
