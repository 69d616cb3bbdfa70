-- The label sets of the report: assessors, judges, and graders under the newest rubric
select
    sets.label_set,
    sets.kind,
    sets.grader,
    sets.rubric_version,
    sets.policy,
    count(*) as n_labels
from lake.intermediate.int_label_sets as sets
inner join lake.marts.relevance_labels using (collection, label_set)
where
    sets.collection = $collection
    and (sets.kind != 'rubric' or sets.rubric_version = $rubric_version)
group by all
order by sets.kind, sets.label_set
