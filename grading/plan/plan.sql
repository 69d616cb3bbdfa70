-- What a grader has still to do, as temporary tables. Settings come in as variables:
--   collection, grader_id, rubric_version
--   kind         of what is asked about, as grading/kinds calls it
--   is_of_pool   whether that is each passage of the pool
--   is_drawn     whether each item is asked about texts of its own, and not about all of its query
--   is_of_two    whether the item is a text, too, which is compared with the other
--   needs_key    whether items without gold answers (battles: without a rubric) are left out
--   answers_from  grader_id whose answers are verified; null for other targets
--   scores_from  names and grader_ids whose grades the prompt shows, in their order; or empty
--   query_ids    the queries asked for; null: all
--   context_first  whether prompts that share a passage are put together, or those of an item
--   query_slots  which texts of the query the prompt names: query, description, narrative
--   may_share    whether these, passage and item are all that it reads, so that the grades of the
--                same texts in other collections are its own
--   chunk_pairs  how many pairs a chunk should have
--   window_pairs  how many pairs of a passage one prompt asks about
--   pairs_limit  how many pairs at most; null: all
--   retry        which failures are asked about again: 'no_reply', 'refused', 'unreadable'; what no
--                reply came to is anyway, until it was asked about `most_asked` times
--   reread_from  grader_ids whose replies are read again instead of asking; null: no
--   not_whole    what the errors of replies begin with that were not whole
-- Queries, passages and items are numbered first: joining and sorting whole numbers is several
-- times faster than strings, and ten million grades fit in little memory.

-- what is in the pool: to find it out, all runs are ranked. Answers and what they cite are in none
create or replace temp table plan_pool as
select
    query_id,
    passage_id,
    text_sha256,
    bool_or(is_gradable) as is_gradable
from lake.marts.wanted_grades
where
    collection = getvariable('collection')
    and kind = if(getvariable('is_of_pool'), 'passage', getvariable('kind'))
    and (kind = 'passage' or rubric_version = getvariable('rubric_version'))
group by all;

-- the passages that can be graded
create or replace temp table plan_passages as
with

queries as (
    select
        query_id,
        query_sha256
    from lake.intermediate.int_query_hashes
    where
        collection = getvariable('collection')
        and slots = getvariable('query_slots')
        and (
            getvariable('query_ids') is null
            or list_contains(getvariable('query_ids'), query_id)
        )
)

select
    query_id,
    passage_id,
    plan_pool.text_sha256,
    queries.query_sha256,
    row_number() over (order by query_id, passage_id) as passage_no,
    row_number() over (partition by query_id order by passage_id) as passage_rank,
    count(*) over (partition by query_id) as n_passages,
    dense_rank() over (order by plan_pool.text_sha256) as text_no,
    count(*) over (partition by plan_pool.text_sha256) > 1 as text_repeats,
    dense_rank() over (order by query_id) as query_no
from plan_pool
inner join queries using (query_id)
where plan_pool.is_gradable;

-- what is asked about each passage of a query
create or replace temp table plan_items as
select
    query_id,
    item_id,
    text as item_text,
    gold_answers,
    case when getvariable('needs_key') then gold_sha256 end as gold_sha256,
    row_number() over (order by query_id, item_id) as item_no,
    row_number() over (partition by query_id order by item_id) as item_rank,
    count(*) over (partition by query_id) as n_items,
    dense_rank() over (order by text, gold_answers) as wording_no,
    count(*) over (partition by text, gold_answers) > 1 as wording_repeats
from lake.marts.wanted_items
where
    collection = getvariable('collection')
    and rubric_version = getvariable('rubric_version')
    and kind = getvariable('kind')
    and text is not null
    and (gold_answers is not null or not getvariable('needs_key'))
    and query_id in (select plan_passages.query_id from plan_passages);

-- grades of the texts that the passage and, where it was asked, the query have now; in force are
-- those of the item's gold answers, where the grader compares with them
create or replace temp table plan_grades as
select
    plan_passages.passage_no,
    plan_items.item_no,
    grades.status = 'failed' as is_failed,
    coalesce(grades.failure, 'unreadable') as failure,
    (grades.gold_sha256 is not distinct from plan_items.gold_sha256) as is_in_force,
    if(is_in_force, null, grades.response) as reply
from lake.raw.grades
inner join plan_passages
    on
        grades.query_id = plan_passages.query_id
        and grades.passage_id = plan_passages.passage_id
        and coalesce(grades.passage_sha256, plan_passages.text_sha256) = plan_passages.text_sha256
        and coalesce(grades.query_sha256, plan_passages.query_sha256)
        is not distinct from plan_passages.query_sha256
inner join plan_items
    on grades.query_id = plan_items.query_id and grades.item_id = plan_items.item_id
where
    grades.collection = getvariable('collection')
    and grades.grader_id = getvariable('grader_id');

-- those that failed, and are asked about again
create or replace temp table plan_again as
with

failures as (
    select
        plan_grades.passage_no,
        plan_grades.item_no,
        plan_passages.query_id,
        plan_passages.passage_id,
        plan_items.item_id,
        plan_grades.failure
    from plan_grades
    inner join plan_passages using (passage_no)
    inner join plan_items using (item_no)
    where plan_grades.is_failed and plan_grades.is_in_force
),

asked as (
    select
        failures.passage_no,
        failures.item_no,
        count(*) as n_times
    from lake.raw.replies as replies
    inner join failures using (query_id, passage_id, item_id)
    where
        replies.collection = getvariable('collection')
        and replies.grader_id = getvariable('grader_id')
        and replies.purpose = 'grade'
    group by all
)

select
    failures.passage_no,
    failures.item_no,
    failures.query_id,
    failures.passage_id,
    failures.item_id
from failures
left join asked using (passage_no, item_no)
where
    list_contains(getvariable('retry'), failures.failure)
    or (failures.failure = 'no_reply' and asked.n_times < getvariable('most_asked'));

create or replace temp view plan_graded as
select
    plan_grades.passage_no,
    plan_grades.item_no,
    plan_grades.is_failed
from plan_grades
anti join plan_again using (passage_no, item_no)
where plan_grades.is_in_force;

-- pairs that a provider's batch is to answer, with these texts and gold answers
create or replace temp table plan_under_way as
with

pairs as (
    select
        unnest(pairs ->> '$[*].query_id') as query_id,
        unnest(pairs ->> '$[*].passage_id') as passage_id,
        unnest(pairs ->> '$[*].item_id') as item_id,
        unnest(pairs ->> '$[*].passage_sha256') as passage_sha256,
        unnest(pairs ->> '$[*].query_sha256') as query_sha256,
        unnest(pairs ->> '$[*].gold_sha256') as gold_sha256
    from lake.raw.replies
    where
        collection = getvariable('collection')
        and grader_id = getvariable('grader_id')
        and state = 'under way'
)

select distinct
    plan_passages.passage_no,
    plan_items.item_no
from pairs
inner join plan_passages
    on
        pairs.query_id = plan_passages.query_id
        and pairs.passage_id = plan_passages.passage_id
        and pairs.passage_sha256 = plan_passages.text_sha256
        and coalesce(pairs.query_sha256, plan_passages.query_sha256)
        is not distinct from plan_passages.query_sha256
inner join plan_items
    on
        pairs.query_id = plan_items.query_id
        and pairs.item_id = plan_items.item_id
        and pairs.gold_sha256 is not distinct from plan_items.gold_sha256;

-- what the model replied when the item had other gold answers: an answer that was extracted need
-- not be extracted again to be compared with these. A verifier was told the old ones, and the judge
-- of a battle the old rubric
create or replace temp table plan_replies as
with

of_other_keys as (
    select
        passage_no,
        item_no,
        min(reply) as reply
    from plan_grades
    where
        not is_in_force
        and not is_failed
        and getvariable('answers_from') is null
        and not getvariable('is_of_two')
    group by all
),

-- the newest reply to the very same prompt, of those that read replies in another way
of_other_readers as (
    select
        plan_passages.passage_no,
        plan_items.item_no,
        arg_max(grades.response, grades.graded_at) as reply
    from lake.raw.grades
    inner join plan_passages
        on
            grades.query_id = plan_passages.query_id
            and grades.passage_id = plan_passages.passage_id
            and grades.passage_sha256 = plan_passages.text_sha256
            and grades.query_sha256 is not distinct from plan_passages.query_sha256
    inner join plan_items
        on grades.query_id = plan_items.query_id and grades.item_id = plan_items.item_id
    where
        grades.collection = getvariable('collection')
        and list_contains(getvariable('reread_from'), grades.grader_id)
        and grades.response is not null
        and not coalesce(
            list_bool_or(
                list_transform(
                    getvariable('not_whole'),
                    lambda words: starts_with(grades.error, words)
                )
            ),
            false
        )
    group by all
)

select * from of_other_keys
union all
select of_other_readers.*
from of_other_readers
anti join of_other_keys using (passage_no, item_no);

-- sentences are asked about what they cite, not about every passage that any of them cites; answers
-- about those that they battle
create or replace temp table plan_cited as
select
    query_id,
    passage_id,
    item_id,
    row_number() over (partition by query_id order by passage_id, item_id) as pair_rank,
    count(*) over (partition by query_id) as n_pairs
from lake.marts.wanted_grades
where
    getvariable('is_drawn')
    and collection = getvariable('collection')
    and kind = getvariable('kind')
    and is_gradable;

-- pairs without a grade that no batch is to answer, and their places in the order of work. Prompts
-- that share most stay together, as a group: those of a passage when it comes first, else those of
-- an item. A chunk is a few whole groups of a query, or a part of a large one. A million groups and
-- a million pairs of each have a place: the places are those of all pairs of passages and items,
-- not of the missing ones, so that what is left after a crash falls into the same chunks.
create or replace temp table plan_missing as
with

wanted as (
    select *
    from lake.marts.wanted_grades
    where
        collection = getvariable('collection')
        and rubric_version = getvariable('rubric_version')
        and kind = getvariable('kind')
        and answers_from is not distinct from getvariable('answers_from')
        and is_gradable
        and (has_gold_answers or not getvariable('needs_key'))
        and (
            getvariable('query_ids') is null
            or list_contains(getvariable('query_ids'), query_id)
        )
),

scorers as (
    select
        unnest(getvariable('scores_from')) as scorer,
        generate_subscripts(getvariable('scores_from'), 1) as place
),

-- what they say of the texts as they are, a line each; where all did
grades_shown as (
    select
        plan_passages.query_id,
        plan_passages.passage_id,
        scorers.scorer['name'] as name,
        scorers.place,
        arg_max(grades.grade, grades.graded_at) as grade
    from lake.raw.grades
    inner join scorers on grades.grader_id = scorers.scorer['grader_id']
    inner join plan_passages
        on
            grades.query_id = plan_passages.query_id
            and grades.passage_id = plan_passages.passage_id
            and coalesce(grades.passage_sha256, plan_passages.text_sha256)
            = plan_passages.text_sha256
    left join lake.intermediate.int_query_hashes as texts
        on
            grades.collection = texts.collection
            and grades.query_id = texts.query_id
            and grades.query_sha256 = texts.query_sha256
    where
        grades.collection = getvariable('collection')
        and grades.item_id = ''
        -- their prompts may read more of the query than this one
        and (grades.query_sha256 is null or texts.slots is not null)
        and grades.grade is not null
    group by all
),

scores as (
    select
        query_id,
        passage_id,
        string_agg(name || ': ' || grade, chr(10) order by place) as scores
    from grades_shown
    group by all
    having count(*) = len(getvariable('scores_from'))
),

pairs as (
    select
        plan_passages.passage_no,
        plan_items.item_no,
        plan_passages.query_no,
        plan_passages.text_no,
        plan_items.wording_no,
        coalesce(wanted.answer, scores.scores) as answer,
        plan_passages.text_repeats or plan_items.wording_repeats as may_repeat,
        getvariable('context_first') as by_passage,
        case
            when plan_cited.pair_rank is not null then 1
            else if(by_passage, plan_passages.passage_rank, plan_items.item_rank)
        end as group_rank,
        coalesce(
            plan_cited.pair_rank,
            if(by_passage, plan_items.item_rank, plan_passages.passage_rank)
        ) as member_rank,
        coalesce(
            plan_cited.n_pairs,
            if(by_passage, plan_items.n_items, plan_passages.n_passages)
        ) as group_size
    from wanted
    left join plan_passages using (query_id, passage_id)
    left join plan_items using (query_id, item_id)
    left join plan_cited using (query_id, passage_id, item_id)
    left join scores using (query_id, passage_id)
    where len(getvariable('scores_from')) = 0 or scores.scores is not null
)

select
    passage_no,
    item_no,
    query_no,
    -- what is read beside the item: the passage's text, or the answer to verify
    case when getvariable('answers_from') is null then pairs.text_no end as text_no,
    pairs.answer,
    pairs.wording_no,
    pairs.may_repeat or pairs.answer is not null as may_repeat,
    pairs.query_no * 1_000_000_000_000 + pairs.group_rank * 1_000_000 + pairs.member_rank
        as work_no,
    pairs.query_no * 1_000_000_000_000
    + (pairs.group_rank - 1) // greatest(1, getvariable('chunk_pairs') // pairs.group_size)
    * 1_000_000
    + (pairs.member_rank - 1) // getvariable('chunk_pairs') as chunk_no
from pairs
anti join plan_graded using (passage_no, item_no)
anti join plan_under_way using (passage_no, item_no)
where
    pairs.query_no is not null
    -- who reads again asks nothing
    and (
        getvariable('reread_from') is null
        or exists (
            select 1
            from plan_replies
            where
                plan_replies.passage_no = pairs.passage_no
                and plan_replies.item_no = pairs.item_no
        )
    );

-- pairs whose very prompt was answered before, under another passage, item or query: their grade
-- is copied; `known` says of what. The texts of another collection's grade are told by its hashes
create or replace temp table plan_reusable as
with

graded_prompts as (
    select
        plan_items.wording_no,
        plan_passages.text_no,
        case when len(getvariable('query_slots')) > 0 then plan_passages.query_no end as query_no,
        min(
            { 'passage_no': plan_passages.passage_no, 'item_no': plan_items.item_no }
        ) as pair
    from plan_graded
    inner join plan_passages using (passage_no)
    inner join plan_items using (item_no)
    where
        not plan_graded.is_failed
        and getvariable('answers_from') is null
        and len(getvariable('scores_from')) = 0
        and (plan_passages.text_repeats or plan_items.wording_repeats)
    group by all
),

of_this_collection as (
    select
        plan_missing.work_no,
        {
            'collection': getvariable('collection'),
            'query_id': plan_passages.query_id,
            'passage_id': plan_passages.passage_id,
            'item_id': plan_items.item_id
        } as known
    from plan_missing
    inner join graded_prompts
        on
            plan_missing.wording_no = graded_prompts.wording_no
            and plan_missing.text_no = graded_prompts.text_no
            and (
                graded_prompts.query_no is null
                or plan_missing.query_no = graded_prompts.query_no
            )
    inner join plan_passages on graded_prompts.pair.passage_no = plan_passages.passage_no
    inner join plan_items on graded_prompts.pair.item_no = plan_items.item_no
    where plan_missing.may_repeat
),

-- the first that was graded; an item may stand in several versions of a rubric
of_others as (
    select
        plan_missing.work_no,
        arg_min(
            {
                'collection': others.collection,
                'query_id': others.query_id,
                'passage_id': others.passage_id,
                'item_id': others.item_id
            },
            (others.graded_at, others.collection, others.query_id, others.passage_id)
        ) as known
    from lake.marts.wanted_items as items
    inner join lake.raw.grades as others using (collection, query_id, item_id)
    inner join plan_passages
        on
            others.passage_sha256 = plan_passages.text_sha256
            and others.query_sha256 is not distinct from plan_passages.query_sha256
    inner join plan_items
        on
            plan_passages.query_id = plan_items.query_id
            and items.text = plan_items.item_text
            and others.gold_sha256 is not distinct from plan_items.gold_sha256
    inner join plan_missing using (passage_no, item_no)
    anti join of_this_collection on plan_missing.work_no = of_this_collection.work_no
    where
        getvariable('may_share')
        and others.grader_id = getvariable('grader_id')
        and others.collection != getvariable('collection')
        and others.status != 'failed'
        and items.kind = getvariable('kind')
    group by plan_missing.work_no
)

select
    plan_missing.work_no,
    plan_missing.passage_no,
    plan_missing.item_no,
    copied.known
from (
    select * from of_this_collection
    union all
    select * from of_others
) as copied
inner join plan_missing using (work_no);

-- what is left; of pairs with the very same prompt the first is answered, and the others go with
-- it into its chunk
create or replace temp table plan_work as
with

left_over as (
    select
        plan_missing.*,
        plan_replies.reply
    from plan_missing
    left join plan_replies using (passage_no, item_no)
    anti join plan_reusable using (work_no)
),

first_ones as (
    select work_no
    from left_over
    order by work_no
    limit coalesce(getvariable('pairs_limit'), 0)
),

limited as (
    select *
    from left_over
    where
        getvariable('pairs_limit') is null
        or work_no <= (select max(first_ones.work_no) from first_ones)
),

led as (
    select
        passage_no,
        item_no,
        answer,
        reply,
        work_no,
        min(work_no) over prompt as leader_no,
        min(chunk_no) over prompt as chunk_no
    from limited
    where may_repeat
    window prompt as (
        partition by
            wording_no,
            text_no,
            answer,
            reply,
            case when len(getvariable('query_slots')) > 0 then query_no end
    )
),

alone as (
    select
        passage_no,
        item_no,
        answer,
        reply,
        work_no,
        work_no as leader_no,
        chunk_no
    from limited
    where not may_repeat
)

select * from led
union all
select * from alone
order by chunk_no, work_no;
