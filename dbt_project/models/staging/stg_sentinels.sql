select
    collection,
    sentinel,
    assessor,
    rounds_per_false_alarm,
    drawn_at
from {{ source('raw', 'sentinels') }}
