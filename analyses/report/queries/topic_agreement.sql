-- How a label set orders the systems as an assessor does, topic by topic, at their usual levels
select
    agreement.label_set,
    agreement.reference,
    agreement.measure,
    map_from_entries(
        list((agreement.query_id, round(agreement.kendall, 3)) order by agreement.query_id)
    ) as kendall
from lake.marts.topic_agreement as agreement
inner join lake.marts.usual_levels using (collection, label_set, level)
where
    agreement.collection = $collection
    and list_contains($measures, agreement.measure)
    and list_contains($label_sets, agreement.label_set)
    and list_contains($label_sets, agreement.reference)
group by all
order by all
