-- Every row of seeds/label_policies.csv that cannot be applied, and why.
select
    coalesce(policy, '(no name)') as bad_row,
    case
        {{ name_is_wrong('policy', 'policy') }}
        when coalesce(rule, '') not in ('best', 'mth_best', 'count_at_least', 'sum')
            then 'rule must be best, mth_best, count_at_least or sum'
        when (rule = 'mth_best') != (m is not null)
            then 'm belongs to mth_best, and it needs one'
        when m < 1 then 'm must be 1 or more'
        when (rule = 'count_at_least') != (tau is not null)
            then 'tau belongs to count_at_least, and it needs one'
        {{ mapping_is_wrong() }}
    end as problem
from {{ file_rows() }}
qualify problem is not null
