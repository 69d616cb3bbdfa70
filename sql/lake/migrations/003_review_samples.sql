-- Samples drawn for people to judge: how each pair came to be judged, so that what they say can be
-- carried over to all pairs or queries of a label set.

-- key: collection, assessor, sample, query_id, passage_id. Pairs not judged yet have a row, too.
create table raw.review_samples (
    collection varchar not null,
    assessor varchar not null,               -- who judges; the judgments are in raw.judgments
    sample varchar not null,                 -- what it was drawn from, how and with which seed
    label_set varchar not null,              -- whose pairs it was drawn from
    unit varchar not null,                   -- what was drawn: 'query' or 'pair'
    query_id varchar not null,
    passage_id varchar not null,
    stratum varchar not null,                -- a code, so that it does not give a label away
    stratum_size integer not null,           -- units it was drawn from
    probability double not null,             -- of the unit to be drawn
    depth integer                            -- only passages ranked so high; null: all labelled
);
