create table raw.retrievals (
    collection varchar not null,
    system varchar not null,
    query_id varchar not null,
    call integer not null,
    searched varchar,
    passage_id varchar,
    rank integer,
    score double
);
