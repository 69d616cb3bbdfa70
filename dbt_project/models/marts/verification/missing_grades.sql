select
    collection,
    ungraded_pairs.grader,
    rubric_version,
    query_id,
    passage_id,
    item_id,
    ungraded_pairs.status,
    grader_items.item_text,
    passages.passage_text as text
from {{ ref('int_ungraded_pairs') }} as ungraded_pairs
inner join {{ ref('grader_items') }} as grader_items
    using (collection, grader_id, rubric_version, query_id, item_id)
left join {{ ref('int_passage_texts') }} as passages using (collection, passage_id)
order by all
