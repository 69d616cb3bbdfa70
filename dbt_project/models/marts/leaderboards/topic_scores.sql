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
-- coverage sees the grades, not the label made of them: it repeats under every policy
{% for mart, measure, value in [
    ('rubric_coverage', 'Cover', 'cover'), ('alpha_ndcg', 'alpha-nDCG', 'alpha_ndcg')
] -%}
    union all
    select
        label_sets.collection,
        label_sets.label_set,
        scores.tau as level,
        scores.system,
        scores.query_id,
        '{{ measure }}@' || scores.k as measure,
        scores.{{ value }} as value
    from {{ ref(mart) }} as scores
    inner join {{ ref('label_sets') }} as label_sets using (collection, grader, rubric_version)
    where scores.is_answered
{% endfor -%}
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
