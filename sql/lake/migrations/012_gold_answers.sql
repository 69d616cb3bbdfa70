-- Hash of the gold answers that an answer was compared with: where an item gets others, it is
-- compared again. Null where the grader compares with none.
alter table raw.grades add column gold_sha256 varchar;

-- Before this, gold answers were replaced by an import of the bank only: today's are taken.
update raw.grades set gold_sha256 = items.gold_sha256
from (
    select
        collection,
        query_id,
        item_id,
        sha256(
            cast(to_json(list_sort(first(gold_answers order by bank))) as varchar)
        ) as gold_sha256
    from raw.rubric_items
    where len(gold_answers) > 0
    group by all
) as items
where
    grades.collection = items.collection
    and grades.query_id = items.query_id
    and grades.item_id = items.item_id
    and grades.grader_id in (
        select graders.grader_id
        from raw.graders
        where graders.target = 'verify' or graders.parser = 'answer_key'
    );

-- The views that grading and reviews begin with get a column; these commands make them anew.
drop view if exists marts.wanted_grades;
drop view if exists marts.wanted_items;
drop view if exists intermediate.int_distinct_items;
