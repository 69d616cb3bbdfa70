select
    collection,
    label_set,
    query_id,
    passage_id,
    cast(label as integer) as label,
    n_items,
    n_missing
from {{ ref('int_labels') }}
