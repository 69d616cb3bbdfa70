-- What did the grades cost that each label set, and so its boards, are made of?
-- :collection = any            a collection
-- :label_set = any             a label set
-- A cost of null is not 0: seeds/prices.csv has no price of the model.
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
