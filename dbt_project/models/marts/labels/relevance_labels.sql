select * exclude (gain) replace (cast(label as integer) as label)
from {{ ref('int_labels') }}
