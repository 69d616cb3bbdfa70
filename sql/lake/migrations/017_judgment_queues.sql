-- A queue may ask for judgments of whole passages instead: its cards have no item ('') and no
-- grader (''). So have their rows in raw.grade_reviews, which keep what was said before the label
-- was shown; what was said last is in raw.judgments.
-- whose labels are shown after; null: it is of grades
alter table raw.review_queues add column label_set varchar;
alter table raw.review_queues add column label_names varchar[];  -- of the scale, from 0 on
