-- Is a judge's probability what it says: of 0.8, are 80 in 100 relevant to people?
-- :collection :grader :assessor
-- :cut = any                   the grade from which on, such as 2
select
    collection,
    grader,
    rubric_version,
    assessor,
    cut,
    n,
    round(mean_probability, 3) as probability,
    round(relevant_share, 3) as relevant,
    round(expected_calibration_error, 3) as ece,
    round(brier, 3) as brier,
    round(relevant_share * (1 - relevant_share), 3) as brier_of_share,
    round(mean_scale_mass, 3) as scale_mass
from marts.judge_calibration
where
    $asked_of_judge_calibration
-- of a rubric its newest version
qualify
    rubric_version is not distinct from max(rubric_version) over (partition by collection, grader)
order by
    collection asc,
    assessor asc,
    ece asc,
    grader asc,
    cut asc
