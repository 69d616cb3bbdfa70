select * from {{ ref('int_grades_in_force') }}
union all by name
select * from {{ ref('int_ensemble_grades') }}
