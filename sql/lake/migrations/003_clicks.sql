create table raw.clicks (
    collection varchar not null,
    query_id varchar not null,
    passage_id varchar not null,
    position integer not null,
    day varchar not null,
    n_impressions bigint not null,
    n_clicks bigint not null
);
