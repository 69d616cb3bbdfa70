-- What grading records beside a grade: what was graded, how it was cut, and why it failed.

-- 'question', 'nugget', 'direct', 'extract' or 'verify': what the grader's prompt asks about
alter table raw.graders add column target varchar;
alter table raw.graders add column prompt_text varchar;
update raw.graders set target = 'direct' where engine = 'imported';

-- hash of the text that was graded: a passage whose text changes is graded again. Null: unknown,
-- the grade counts whatever the text
alter table raw.grades add column passage_sha256 varchar;
-- probability the model itself gave to all words of the scale together
alter table raw.grades add column scale_mass double;
-- how much of the passage's end did not fit the model; 0: it was read whole
alter table raw.grades add column cut_characters integer;
-- why a failed pair failed
alter table raw.grades add column error varchar;

alter table raw.grading_batches add column unanswerable bigint;
-- pairs whose prompt and passage text had been graded under another id
alter table raw.grading_batches add column reused bigint;
alter table raw.grading_batches add column cached_tokens bigint;
