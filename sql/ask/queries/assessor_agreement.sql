-- How well do people who reviewed the same grades agree with each other?
-- :collection :grader
-- :reveal = any                before (blind reviews only) or after the grade was shown
-- :tau = 4                     an item counts as answered from this grade on
with

agreements as (
    select
        *,
        kappa as agreement,
        'kappa' as statistic
    from marts.assessor_agreement
    union all by name
    select
        *,
        alpha as agreement,
        'alpha' as statistic
    from marts.assessor_alpha
)

select
    collection,
    grader,
    reveal,
    tau,
    assessor,
    other_assessor,
    n_graded,
    statistic,
    agreement
from agreements
where
    $asked_of_agreements
order by
    collection asc,
    grader asc,
    reveal asc,
    assessor asc nulls last,
    other_assessor asc
