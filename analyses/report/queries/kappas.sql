-- Cohen's kappa with the reference: on the whole scale, and of each cut with its relevance level
select
    label_set,
    kind,
    label_cut,
    round(kappa, 3) as kappa,
    round(precision, 3) as precision,
    round(recall, 3) as recall
from lake.marts.kappa
where
    collection = $collection
    and reference = $reference
    and not is_sampled
    and (
        (kind = 'binary' and reference_cut = $reference_cut)
        or (kind in ('graded', 'quadratic') and is_common_scale)
    )
order by all
