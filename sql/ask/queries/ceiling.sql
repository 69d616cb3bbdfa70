-- Does a judge agree with people as well as they agree with each other, on the same passages?
-- :collection :label_set
-- :assessor = any              one of the two people, by name the first
select
    collection,
    label_set,
    assessor,
    other_assessor,
    kind,
    n,
    round(kappa_assessor, 3) as kappa_assessor,
    round(kappa_other, 3) as kappa_other,
    round(kappa_people, 3) as kappa_people,
    round(shortfall, 3) as shortfall
from marts.human_ceiling
where $asked_of_human_ceiling
order by
    collection asc,
    assessor asc,
    other_assessor asc,
    kind asc,
    shortfall asc nulls last,
    label_set asc
