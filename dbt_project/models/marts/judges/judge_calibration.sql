select
    collection,
    grader,
    rubric_version,
    assessor,
    cut,
    cast(sum(n) as bigint) as n,
    round(sum(n * mean_probability) / sum(n), 10) as mean_probability,
    round(sum(n * relevant_share) / sum(n), 10) as relevant_share,
    round(sum(n * abs(mean_probability - relevant_share)) / sum(n), 10)
        as expected_calibration_error,
    round(sum(n * squared_error) / sum(n), 10) as brier,
    round(
        sum(n * mean_scale_mass) / sum(n) filter (where mean_scale_mass is not null), 10
    ) as mean_scale_mass
from {{ ref('calibration_bins') }}
group by all
order by all
