-- What people say of a grader's grades, one at a time (`gradelake review`). No grade changes by it.

-- key: that of raw.grades, and assessor. A second verdict takes the place of the first.
create table raw.grade_reviews (
    grader_id varchar not null,
    collection varchar not null,
    query_id varchar not null,
    passage_id varchar not null,
    item_id varchar not null,
    passage_sha256 varchar,                  -- the text that was graded, as in raw.grades
    query_sha256 varchar,
    assessor varchar not null,               -- who reviewed
    grade integer not null,                  -- the grader's, as it was shown
    verdict varchar not null,                -- 'agree' or 'disagree'
    own_grade integer,                       -- of who disagrees and says what it should be
    note varchar,
    reviewed_at timestamp not null
);
