select
    policy,
    rule,
    m,
    tau,
    {{ mapping_as_map('mapping') }} as mapping
from {{ ref('label_policies') }}
