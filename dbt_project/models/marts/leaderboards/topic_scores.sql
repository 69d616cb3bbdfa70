with

label_sets as (
    select * from {{ ref('int_label_sets') }}
)

select
    label_variants.collection,
    label_variants.label_set,
    label_scores.level,
    label_scores.system,
    label_variants.query_id,
    label_scores.measure,
    label_scores.value
from {{ ref('int_label_scores') }} as label_scores
inner join {{ ref('int_label_variants') }} as label_variants using (variant)
union all
-- coverage sees the grades, not the label made of them: it repeats under every policy
select
    label_sets.collection,
    label_sets.label_set,
    rubric_coverage.tau as level,
    rubric_coverage.system,
    rubric_coverage.query_id,
    'Cover@' || rubric_coverage.k as measure,
    rubric_coverage.cover as value
from {{ ref('rubric_coverage') }} as rubric_coverage
inner join label_sets using (collection, grader, rubric_version)
where rubric_coverage.is_answered
union all
select
    label_sets.collection,
    label_sets.label_set,
    alpha_ndcg.tau as level,
    alpha_ndcg.system,
    alpha_ndcg.query_id,
    'alpha-nDCG@' || alpha_ndcg.k as measure,
    alpha_ndcg.alpha_ndcg as value
from {{ ref('alpha_ndcg') }} as alpha_ndcg
inner join label_sets using (collection, grader, rubric_version)
where alpha_ndcg.is_answered
union all
select
    answer_scores.collection,
    answer_scores.label_set,
    cast(levels.level as integer) as level,
    answer_scores.system,
    answer_scores.query_id,
    answer_scores.measure,
    answer_scores.value
from {{ ref('int_answer_scores') }} as answer_scores
cross join {{ ref('evaluation_levels') }} as levels
