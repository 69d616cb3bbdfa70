-- The label sets of the report: assessors, judges, and graders under the newest rubric; last those
-- that score answers, and label no passages
with

labelled as (
    select
        label_set,
        count(*) as n_labels
    from lake.marts.relevance_labels
    where collection = $collection
    group by label_set
)

select
    sets.label_set,
    sets.kind,
    coalesce(labelled.n_labels, 0) as n_labels,
    sets.max_label is null as is_of_answers
from lake.marts.label_sets as sets
left join labelled using (label_set)
where
    sets.collection = $collection
    and (is_of_answers or labelled.n_labels > 0)
    and (sets.rubric_version is null or sets.rubric_version = $rubric_version)
order by is_of_answers, sets.kind = 'battles', sets.kind, sets.label_set
