-- How well do labels agree with those of an assessor or another judge, best first?
-- :collection :label_set
-- :reference = any             the label set they are compared with, such as assessor:NAME
-- :kind = binary               graded, linear, quadratic, binary, collapsed or boxed
select
    kappa.collection,
    kappa.label_set,
    kappa.reference,
    kappa.cut,
    round(kappa.kappa, 3) as kappa,
    kappa.n,
    round(kappa.observed, 3) as observed,
    round(kappa.precision, 3) as precision,
    round(kappa.recall, 3) as recall,
    round(kappa.specificity, 3) as specificity,
    round(kappa.prevalence_index, 3) as prevalence,
    round(kappa.bias_index, 3) as bias
from marts.kappa
inner join raw.collections as collections using (collection)
where
    not kappa.is_sampled
    and $asked_of_kappa
    -- unless a reference is named: assessors, and what they hold relevant
    and (
        kappa.reference = $reference
        or ($reference is null and kappa.assessor is not null)
    )
    and (
        kappa.kind != 'binary'
        or kappa.assessor is null
        or kappa.reference_cut = collections.min_relevant
    )
order by
    kappa.collection asc,
    kappa.reference asc,
    kappa.kappa desc nulls last,
    kappa.label_set asc,
    kappa.kind asc,
    kappa.label_cut asc,
    kappa.reference_cut asc
