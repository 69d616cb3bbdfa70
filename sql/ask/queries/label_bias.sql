-- Are a judge's labels more generous than people's for long passages, or for high-ranked ones?
-- :collection :label_set :assessor
-- :property = any              length or position
select
    collection,
    label_set,
    assessor,
    property,
    bucket,
    from_amount,
    to_amount,
    n,
    round(label_share, 3) as label_share,
    round(judgment_share, 3) as judgment_share,
    round(residual, 3) as residual,
    round(stderr, 3) as stderr
from marts.label_bias
where
    $asked_of_label_bias
order by all
