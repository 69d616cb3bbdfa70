{{ config(materialized='table') }}

with

sentinels as (
    select * from {{ source('raw', 'sentinels') }}
),

labels as (
    select * from {{ ref('int_sentinel_labels') }}
),

rounds as (
    select
        collection,
        sentinel,
        grader_id,
        round,
        min(graded_at) as began_at,
        max(graded_at) as finished_at,
        cast(min(graded_at) as date) as day
    from {{ source('raw', 'sentinel_grades') }}
    group by all
),

tokens as (
    select
        replies.collection,
        replies.grader_id,
        replies.round as round_name,
        {{ summed_tokens() }}
    from {{ source('raw', 'replies') }} as replies
    where replies.purpose in ('sentinel', 'probe')
    group by all
),

used as (
    select
        rounds.*,
        tokens.* exclude (collection, grader_id, round_name)
    from rounds
    left join tokens
        on
            rounds.collection = tokens.collection
            and rounds.grader_id = tokens.grader_id
            and tokens.round_name = rounds.sentinel || '/' || rounds.round
),

agreements as (
    select
        collection,
        sentinel,
        grader_id,
        round,
        bool_and(is_whole) as is_whole,
        count(*) as n_pairs,
        count(label) as n_labelled,
        avg(cast(compared_label = compared_judgment as integer)) as agreement
    from labels
    group by all
),

confusions as (
    select
        collection,
        sentinel,
        grader_id,
        round,
        compared_label as label,
        compared_judgment as judgment,
        count(*) as n
    from labels
    where label is not null
    group by all
),

kappas as (
    {{ kappas('confusions', ['collection', 'sentinel', 'grader_id', 'round']) }}
),

kappas_of_rounds as (
    select
        collection,
        sentinel,
        grader_id,
        round,
        max(kappa) filter (where kind = 'graded') as kappa,
        max(kappa) filter (where kind = 'quadratic') as kappa_quadratic
    from kappas
    group by all
),

measured as (
    select *
    from agreements
    left join kappas_of_rounds using (collection, sentinel, grader_id, round)
),

-- two tests share the rate of false alarms
verdicts as (
    select
        evidence.*,
        round(log10(2 * sentinels.rounds_per_false_alarm), 6) as threshold,
        greatest(evidence.flips_evidence, evidence.agreement_evidence) >= threshold as is_alarm,
        case
            when evidence.agreement_evidence >= evidence.flips_evidence
                then evidence.agreement_first_round
            else evidence.flips_first_round
        end as drift_round
    from {{ ref('int_drift_evidence') }} as evidence
    inner join sentinels using (collection, sentinel)
),

-- before the change, and since
alarms as (
    select
        verdicts.collection,
        verdicts.sentinel,
        verdicts.grader_id,
        verdicts.round,
        verdicts.drift_round,
        avg(measured.agreement) filter (where measured.round < verdicts.drift_round)
            as agreement_before,
        avg(measured.agreement) filter (where measured.round >= verdicts.drift_round)
            as agreement_since,
        avg(measured.kappa) filter (where measured.round < verdicts.drift_round) as kappa_before,
        avg(measured.kappa) filter (where measured.round >= verdicts.drift_round) as kappa_since
    from verdicts
    inner join measured using (collection, sentinel, grader_id)
    where
        verdicts.is_alarm
        and verdicts.round >= measured.round
    group by all
)

select
    used.collection,
    used.sentinel,
    graders.grader,
    used.round,
    sentinels.assessor,
    used.began_at,
    used.finished_at,
    measured.is_whole,
    measured.n_pairs,
    measured.n_labelled,
    round(measured.agreement, 10) as agreement,
    round(measured.kappa, 10) as kappa,
    round(measured.kappa_quadratic, 10) as kappa_quadratic,
    counts.n_flips,
    counts.n_lost,
    counts.n_gained,
    verdicts.flips_evidence,
    verdicts.agreement_evidence,
    verdicts.threshold,
    coalesce(verdicts.is_alarm, false) as is_alarm,
    alarms.drift_round,
    first_ones.began_at as drift_began_at,
    round(alarms.agreement_before, 10) as agreement_before,
    round(alarms.agreement_since, 10) as agreement_since,
    round(alarms.kappa_before, 10) as kappa_before,
    round(alarms.kappa_since, 10) as kappa_since,
    used.prompt_tokens,
    used.cached_tokens,
    used.completion_tokens,
    round({{ cost_of_tokens('used') }}, 10) as cost,
    prices.currency
from used
inner join sentinels using (collection, sentinel)
inner join {{ ref('int_own_graders') }} as graders using (grader_id)
inner join measured using (collection, sentinel, grader_id, round)
left join {{ ref('int_sentinel_counts') }} as counts using (collection, sentinel, grader_id, round)
left join verdicts using (collection, sentinel, grader_id, round)
left join alarms using (collection, sentinel, grader_id, round)
left join used as first_ones
    on
        used.collection = first_ones.collection
        and used.sentinel = first_ones.sentinel
        and used.grader_id = first_ones.grader_id
        and alarms.drift_round = first_ones.round
asof left join {{ ref('int_prices') }} as prices
    on
        graders.model = prices.model
        and used.day >= prices.from_date
