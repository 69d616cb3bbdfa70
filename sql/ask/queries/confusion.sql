-- How often does each label meet each judgment?
-- :collection :label_set
-- :reference = any             the label set they are compared with, such as assessor:NAME
select
    collection,
    label_set,
    reference,
    label,
    judgment,
    n,
    round(100 * n / sum(n) over (partition by collection, label_set, reference, label), 1)
        as percent_of_label,
    round(100 * n / sum(n) over (partition by collection, label_set, reference, judgment), 1)
        as percent_of_judgment
from marts.confusion
where
    not is_sampled
    and $asked_of_confusion
    and (reference = $reference or ($reference is null and assessor is not null))
order by
    collection asc,
    label_set asc,
    reference asc,
    label desc,
    judgment desc
