-- What did grading each system's passages cost, and how much was for passages of it alone?
-- :collection :grader :system
-- A cost of null is unknown, not 0: seeds/prices.csv has no price for the model.
select
    collection,
    grader,
    system,
    n_pairs,
    n_pairs_alone,
    cost,
    cost_alone,
    currency
from marts.system_cost
where
    $asked_of_system_cost
order by
    collection asc,
    grader asc,
    n_pairs_alone desc,
    system asc
