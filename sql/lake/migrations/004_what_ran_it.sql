alter table raw.grades add column probabilities double[];
alter table raw.grades add column reasoning varchar;
alter table raw.grading_runs add column stack varchar;
