select
    confusions.collection,
    confusions.label_set,
    confusions.reference,
    label_pairs.assessor,
    confusions.is_sampled,
    cast(confusions.label as integer) as label,
    cast(confusions.judgment as integer) as judgment,
    cast(sum(confusions.n) as bigint) as n
from {{ ref('int_confusions') }} as confusions
inner join {{ ref('int_label_pairs') }} as label_pairs using (collection, label_set, reference)
group by all
