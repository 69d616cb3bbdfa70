-- alpha-nDCG@k (Clarke et al. 2008) with alpha = 0.5: the items that a passage answers with a grade
-- of tau or more are its intents.
{{ with_cutoffs_of('alpha-nDCG') }}

select
    variants.collection,
    variants.grader,
    variants.rubric_version,
    levels.level as tau,
    cutoffs.k,
    systems.system,
    variants.query_id,
    rubric_scores.variant is not null as is_answered,
    round(coalesce(rubric_scores.gain / ideal_gains.gain, 0), 10) as alpha_ndcg
from {{ ref('int_rubric_variants') }} as variants
inner join {{ source('raw', 'systems') }} as systems using (collection)
cross join {{ ref('evaluation_levels') }} as levels
cross join cutoffs
left join {{ ref('int_rubric_scores') }} as rubric_scores
    on
        variants.variant = rubric_scores.variant
        and systems.system = rubric_scores.system
        and levels.level = rubric_scores.tau
        and cutoffs.k = rubric_scores.k
        and rubric_scores.facet_id is null
left join {{ ref('int_ideal_gains') }} as ideal_gains
    on
        variants.variant = ideal_gains.part
        and levels.level = ideal_gains.tau
        and cutoffs.k = ideal_gains.k
