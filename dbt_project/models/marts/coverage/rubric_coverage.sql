-- Cover@k of the RUBRIC and EXAM++ papers: the share of a query's rubric items that a system's top
-- k passages answer with a grade of tau or more.
{{ with_cutoffs_of('Cover') }}

select
    variants.collection,
    variants.grader,
    variants.rubric_version,
    totals.tau,
    cutoffs.k,
    systems.system,
    variants.query_id,
    rubric_scores.variant is not null as is_answered,
    totals.n_items,
    coalesce(rubric_scores.n_covered, 0) as n_covered,
    round(coalesce(rubric_scores.n_covered, 0) / totals.n_items, 10) as cover,
    round(coalesce(rubric_scores.covered_weight, 0) / nullif(totals.total_weight, 0), 10)
        as cover_weighted,
    round(coalesce(rubric_scores.n_covered / nullif(totals.n_coverable, 0), 0), 10)
        as cover_normalised,
    case
        when rubric_scores.variant is not null and totals.n_graded_items > 0
            then round(rubric_scores.n_covered / totals.n_graded_items, 10)
    end as cover_workbench
from {{ ref('int_rubric_variants') }} as variants
inner join {{ ref('int_rubric_totals') }} as totals on variants.variant = totals.part
inner join {{ source('raw', 'systems') }} as systems using (collection)
cross join cutoffs
left join {{ ref('int_rubric_scores') }} as rubric_scores
    on
        variants.variant = rubric_scores.variant
        and systems.system = rubric_scores.system
        and totals.tau = rubric_scores.tau
        and cutoffs.k = rubric_scores.k
        and rubric_scores.facet_id is null
where totals.facet_id is null
