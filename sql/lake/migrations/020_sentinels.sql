-- Does a judge change? A fixed set of pairs that people judged is graded anew, round by round. Its
-- grades are kept apart: what is missing, labels and boards do not see them.

-- key: collection, sentinel
create table raw.sentinels (
    collection varchar not null,
    sentinel varchar not null,               -- its name
    assessor varchar not null,               -- whose judgments
    -- on average at most one false alarm in so many rounds
    rounds_per_false_alarm integer not null,
    drawn_at timestamp not null
);

-- what is asked, with the texts and the judgment as they were when the set was drawn
-- key: collection, sentinel, query_id, passage_id, item_id
create table raw.sentinel_pairs (
    collection varchar not null,
    sentinel varchar not null,
    query_id varchar not null,
    passage_id varchar not null,
    item_id varchar not null,                -- '' where the passage is graded as a whole
    kind varchar not null,                   -- 'passage', 'question' or 'nugget'
    judgment integer not null,               -- of the passage
    query varchar not null,
    passage varchar not null,
    item varchar not null
);

-- key: collection, sentinel, grader_id, round, query_id, passage_id, item_id
create table raw.sentinel_grades (
    sentinel varchar not null,
    round integer not null,                  -- 1-based
    grader_id varchar not null,              -- from here on as in raw.grades
    collection varchar not null,
    query_id varchar not null,
    passage_id varchar not null,
    item_id varchar not null,
    grade integer,
    status varchar not null,
    answer varchar,
    response varchar,
    expected_grade double,
    prompt_tokens integer,
    cached_tokens integer,
    completion_tokens integer,
    batch_id varchar not null,
    graded_at timestamp not null,
    scale_mass double,
    cut_characters integer,
    error varchar
);
