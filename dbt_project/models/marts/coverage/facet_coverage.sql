-- Cover@k of each facet (subtopic) of a query by itself: rubric_coverage over the facet's items.
{{ with_cutoffs_of('Cover') }}

select
    variants.collection,
    variants.grader,
    variants.rubric_version,
    totals.tau,
    cutoffs.k,
    systems.system,
    variants.query_id,
    totals.facet_id,
    totals.n_items,
    coalesce(rubric_scores.n_covered, 0) as n_covered,
    round(coalesce(rubric_scores.n_covered, 0) / totals.n_items, 10) as cover,
    round(coalesce(rubric_scores.covered_weight, 0) / nullif(totals.total_weight, 0), 10)
        as cover_weighted
from {{ ref('int_rubric_variants') }} as variants
inner join {{ ref('int_rubric_totals') }} as totals on variants.variant = totals.part
inner join {{ source('raw', 'systems') }} as systems using (collection)
cross join cutoffs
left join {{ ref('int_rubric_scores') }} as rubric_scores
    using (variant, system, tau, k, facet_id)
where totals.facet_id is not null
