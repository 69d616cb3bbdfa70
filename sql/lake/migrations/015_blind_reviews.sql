-- A person may grade before the grader's grade is shown (`gradelake review --blind`).
alter table raw.grade_reviews add column blind_grade integer;  -- null: the grade was shown first
alter table raw.grade_reviews add column seconds double;       -- from the first sight of the card
