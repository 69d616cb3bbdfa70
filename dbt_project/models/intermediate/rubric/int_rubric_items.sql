select * exclude (is_in_force)
from {{ ref('int_rubric_states') }}
where is_in_force
