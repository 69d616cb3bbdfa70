-- Several people share the reviewing of a grader's grades (`gradelake queue`). Its cards are chosen
-- once: everybody has the same ones, in the same order.

-- key: collection, queue
create table raw.review_queues (
    collection varchar not null,
    queue varchar not null,                  -- its name
    grader_id varchar not null,              -- whose grades
    source varchar not null,                 -- where its cards are from: 'sample', or a list
    tau integer not null,                    -- the grade from which an item counts as answered
    overlap integer not null,                -- to how many people each card goes
    seed integer not null,
    made_at timestamp not null
);

-- key: collection, queue, position, assessor
create table raw.review_cards (
    collection varchar not null,
    queue varchar not null,
    position integer not null,               -- of the card: the first one is 1
    query_id varchar not null,
    passage_id varchar not null,
    item_id varchar not null,
    passage_sha256 varchar,                  -- the text that was graded, as in raw.grades
    query_sha256 varchar,
    grader_id varchar not null,
    assessor varchar not null                -- who is asked
);

alter table raw.grade_reviews add column settles boolean;  -- true: settles what others differ on
