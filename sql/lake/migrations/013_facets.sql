-- Subtopics of queries, as topics files and ir_datasets name them.
-- key: collection, query_id, facet_id
create table raw.facets (
    collection varchar not null,
    query_id varchar not null,
    facet_id varchar not null,
    text varchar not null
);
