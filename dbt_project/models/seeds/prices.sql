-- What is wrong in seeds/prices.csv.
with

amounts as (
    select
        *,
        try_cast(input as double) as input_price,
        try_cast(coalesce(cached, input) as double) as cached_price,
        try_cast(output as double) as output_price,
        try_cast(coalesce(batch, '1') as double) as batch_share
    from {{ file_rows() }}
)

select
    coalesce(model, '(empty)') || ', ' || coalesce(from_date, '(empty)') as bad_row,
    case
        when model is null then 'no model is named'
        when try_cast(from_date as date) is null then 'from_date must look like 2026-03-01'
        when not regexp_full_match(coalesce(currency, ''), '[A-Z]{3}')
            then 'currency must be three capital letters, as USD'
        when count(distinct currency) over () > 1
            then 'all prices must be in one currency, so that they can be summed'
        when
            not coalesce(isfinite(input_price) and input_price >= 0, false)
            or not coalesce(isfinite(output_price) and output_price >= 0, false)
            then 'input and output must be prices of a million tokens, 0 or more'
        when not coalesce(isfinite(cached_price) and cached_price >= 0, false)
            then 'cached must be a price of a million tokens, or empty: as input'
        when not coalesce(batch_share between 0 and 1, false)
            then 'batch must be a share of these prices, 0 to 1, or empty: 1'
        when count(*) over (partition by model, try_cast(from_date as date)) > 1
            then 'listed twice'
    end as problem
from amounts
qualify problem is not null
