alter table raw.imported_scores add column query_id varchar;
