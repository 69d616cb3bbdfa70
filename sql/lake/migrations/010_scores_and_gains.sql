alter table raw.imported_scores add column query_id varchar;
alter table raw.judgments add column gain double;
