-- It holds more than decoding: all that changes a grader's grades and has no column of its own,
-- and of an imported grader what its file says.
alter table raw.graders rename column decoding to settings;
