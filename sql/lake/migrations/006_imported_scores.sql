create table raw.imported_scores (
    collection varchar not null,
    board varchar not null,
    measure varchar not null,
    system varchar not null,
    score double not null,
    stderr double
);
