create table raw.query_weights (
    collection varchar not null,
    query_id varchar not null,
    weight double,
    cluster varchar,
    segments varchar[]
);
