-- Cohen's kappa with the reference: by quadratic weights, and of each cut with its relevance level
with

kappas as (
    select *
    from lake.marts.kappa
    where collection = $collection and reference = $reference and not is_sampled
),

-- cuts are made at labels that occur: without one at the relevance level, the next higher cut is it
relevant as (
    select
        label_set,
        min(reference_cut) as reference_cut
    from kappas
    where kind = 'binary' and reference_cut >= $reference_cut
    group by label_set
)

select
    kappas.label_set,
    kappas.kind,
    kappas.label_cut,
    round(kappas.kappa, 3) as kappa,
    round(kappas.precision, 3) as precision,
    round(kappas.recall, 3) as recall
from kappas
left join relevant using (label_set)
where
    (kappas.kind = 'binary' and kappas.reference_cut = relevant.reference_cut)
    or (kappas.kind = 'quadratic' and kappas.is_common_scale)
order by all
