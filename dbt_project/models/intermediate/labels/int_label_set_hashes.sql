select
    collection,
    label_set,
    {{ hash_of_rows('variant') }} as labels_hash
from {{ ref('int_label_variants') }}
group by all
