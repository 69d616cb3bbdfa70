-- How well do people who reviewed a grader's grades agree with it?
-- :collection :grader
-- :assessor = any              who reviewed
-- :reveal = after              before (blind reviews only) or after the grade was shown; any: both
-- :tau = 4                     an item counts as answered from this grade on
select
    collection,
    grader,
    assessor,
    reveal,
    tau,
    n_reviewed,
    n_agreed,
    round(share_agreed, 3) as share_agreed,
    n_graded,
    round(kappa, 3) as kappa,
    round(precision, 3) as precision,
    round(recall, 3) as recall,
    n_both,
    n_grader_only,
    n_assessor_only,
    n_neither
from marts.review_agreement
where
    $asked_of_review_agreement
    and tau = cast($tau as integer)
order by all
