-- Every row of seeds/label_policies.csv that cannot be applied, and why.
select
    coalesce(policy, '(no name)') as bad_row,
    case
        when not regexp_full_match(coalesce(policy, ''), '[A-Za-z0-9][A-Za-z0-9_.+=@-]*')
            then 'a name has letters, digits and . _ + = @ - only'
        when count(*) over (partition by policy) > 1 then 'listed twice'
        when coalesce(rule, '') not in ('best', 'mth_best', 'count_at_least', 'sum')
            then 'rule must be best, mth_best, count_at_least or sum'
        when (rule = 'mth_best') != (m is not null)
            then 'm belongs to mth_best, and it needs one'
        when m < 1 then 'm must be 1 or more'
        when (rule = 'count_at_least') != (tau is not null)
            then 'tau belongs to count_at_least, and it needs one'
        when {{ is_no_mapping('mapping') }} then 'mapping must look like 5:3 4:1'
        when {{ maps_twice('mapping') }} then 'mapping names a label twice'
    end as problem
from {{ file_rows() }}
qualify problem is not null
