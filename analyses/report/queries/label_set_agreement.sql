-- How two label sets' boards agree, each at its usual level
select
    agreement.label_set,
    agreement.reference,
    agreement.measure,
    round(agreement.kendall, 3) as kendall
from lake.marts.leaderboard_agreement as agreement
inner join lake.marts.usual_levels as levels using (collection, label_set, level)
inner join lake.marts.usual_levels as reference_levels
    on
        agreement.collection = reference_levels.collection
        and agreement.reference = reference_levels.label_set
        and agreement.reference_level = reference_levels.level
where
    agreement.collection = $collection
    and list_contains($measures, agreement.measure)
    and list_contains($label_sets, agreement.label_set)
    and list_contains($label_sets, agreement.reference)
order by all
