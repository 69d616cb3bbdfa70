-- What engines had to tell of a batch, e.g. which model answered for the one asked for.
alter table raw.grading_batches add column notes varchar[];
