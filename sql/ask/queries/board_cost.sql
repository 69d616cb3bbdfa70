-- What did the grades behind each label set and its leaderboards cost?
-- :collection
-- :label_set = any             a label set
-- A cost of null is unknown, not 0: seeds/prices.csv has no price for the model.
select
    collection,
    label_set,
    n_pairs,
    cost,
    currency
from marts.label_set_cost
where
    $asked_of_label_set_cost
order by all
