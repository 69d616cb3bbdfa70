-- A person may grade before the grader's grade is shown (`gradelake review --blind`).
alter table raw.grade_reviews add column blind_grade integer;  -- null: the grade was shown first
alter table raw.grade_reviews add column seconds double;       -- from the first sight of the card

-- The views that a review reads get a column; `gradelake review` makes them anew.
drop view if exists marts.review_agreement;
drop view if exists intermediate.int_grade_reviews;
drop view if exists staging.stg_grade_reviews;
