{{ config(materialized='table') }}

-- For each round, and each earlier one that may have been the last before a change: how much more
-- likely the counts are with it. Sums of all rounds so far are enough to know.
with

sums as (
    select
        collection,
        sentinel,
        grader_id,
        round,
        sum(n_pairs) over so_far as pairs,
        sum(n_flips) over so_far as flips,
        sum(n_agreed_before) over so_far as agreed,
        sum(n_lost) over so_far as lost,
        sum(n_not_agreed_before) over so_far as disagreed,
        sum(n_gained) over so_far as gained
    from {{ ref('int_sentinel_counts') }}
    where round > {{ reference_rounds() }}
    window so_far as (partition by collection, sentinel, grader_id order by round)
),

changes as (
    select
        collection,
        sentinel,
        grader_id,
        now.round,
        before.round + 1 as first_round,
        {{ ln_change('before.flips', 'before.pairs', 'now.flips', 'now.pairs') }} as ln_flips,
        {{ ln_change('before.lost', 'before.agreed', 'now.lost', 'now.agreed') }}
        + {{ ln_change('before.gained', 'before.disagreed', 'now.gained', 'now.disagreed') }}
            as ln_agreement
    from sums as now
    inner join sums as before using (collection, sentinel, grader_id)
    where before.round < now.round
),

measured as (
    select
        *,
        max(ln_flips) over now as most_flips,
        max(ln_agreement) over now as most_agreement
    from changes
    window now as (partition by collection, sentinel, grader_id, round)
)

select
    collection,
    sentinel,
    grader_id,
    round,
    {{ shiryaev_roberts('ln_flips', 'most_flips') }} as flips_evidence,
    arg_max(first_round, (ln_flips, -first_round)) as flips_first_round,
    {{ shiryaev_roberts('ln_agreement', 'most_agreement') }} as agreement_evidence,
    arg_max(first_round, (ln_agreement, -first_round)) as agreement_first_round
from measured
group by all
