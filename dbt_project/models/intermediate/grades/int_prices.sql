select
    model,
    cast(from_date as date) as from_date,
    currency,
    cast(input as double) / 1e6 as input_price,
    cast(coalesce(cached, input) as double) / 1e6 as cached_price,
    cast(output as double) / 1e6 as output_price,
    cast(coalesce(batch, '1') as double) as batch_share
from {{ ref('prices') }}
