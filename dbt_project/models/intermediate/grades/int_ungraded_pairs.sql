select
    wanted_grades.collection,
    graders.grader_id,
    graders.grader,
    graders.engine,
    wanted_grades.rubric_version,
    wanted_grades.query_id,
    wanted_grades.passage_id,
    wanted_grades.item_id,
    case
        when grades.status is not null then grades.status
        when not wanted_grades.is_gradable then 'no text'
        when under_way.grader_id is not null then 'under way'
        else 'missing'
    end as status
from {{ ref('wanted_grades') }} as wanted_grades
inner join {{ ref('graders') }} as graders
    on
        wanted_grades.kind = graders.asks_about
        and wanted_grades.answers_from is not distinct from graders.answers_from
        and (wanted_grades.has_gold_answers or not graders.needs_gold_answers)
left join {{ ref('int_grades') }} as grades
    on
        wanted_grades.collection = grades.collection
        and graders.grader_id = grades.grader_id
        and wanted_grades.query_id = grades.query_id
        and wanted_grades.passage_id = grades.passage_id
        and wanted_grades.item_id = grades.item_id
        and case when graders.needs_gold_answers then wanted_grades.gold_sha256 end
        is not distinct from grades.gold_sha256
left join {{ ref('int_pairs_under_way') }} as under_way
    on
        wanted_grades.collection = under_way.collection
        and graders.grader_id = under_way.grader_id
        and wanted_grades.query_id = under_way.query_id
        and wanted_grades.passage_id = under_way.passage_id
        and wanted_grades.item_id = under_way.item_id
        and wanted_grades.text_sha256 = under_way.passage_sha256
        and case when graders.needs_gold_answers then wanted_grades.gold_sha256 end
        is not distinct from under_way.gold_sha256
where grades.grade is null
