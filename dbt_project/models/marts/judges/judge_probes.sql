-- What attacks do to a judge's grades: each variant's label beside that of the unchanged passage.
{%- set of_attack = [
    'collection', 'probe', 'grader_id', 'rubric_version', 'round', 'is_relevant', 'attack'
] %}
{%- set statistics = ['up', 'down', 'risen', 'fallen', 'crossed'] %}
with

labels as (
    select
        variants.collection,
        variants.sentinel as probe,
        variants.rubric_version,
        variants.is_relevant,
        variants.attack,
        variants.original_id,
        labels.* exclude (collection, sentinel)
    from {{ ref('int_sentinel_labels') }} as labels
    inner join {{ source('raw', 'probe_variants') }} as variants
        using (collection, sentinel, query_id, passage_id)
    where labels.label is not null
),

moves as (
    select
        after.*,
        after.label - before.label as rise,
        before.label < collections.min_relevant as was_below,
        after.label >= collections.min_relevant as is_above
    from labels as after
    inner join labels as before
        using (collection, probe, grader_id, round, query_id, original_id)
    inner join {{ source('raw', 'collections') }} as collections using (collection)
    where before.attack = 'unchanged' and after.attack != 'unchanged'
),

measured as (
    select
        {{ of_attack | join(', ') }},
        query_id,
        unnest({{ statistics }}) as statistic,
        unnest([
            greatest(rise, 0),
            greatest(-rise, 0),
            cast(rise >= 1 as integer),
            cast(rise <= -1 as integer),
            case when was_below then cast(is_above as integer) end
        ]) as x
    from moves
),

known as (
    select * from measured
    where x is not null
),

means as (
    {{ mean_of_pairs('known', of_attack + ['statistic']) }}
),

attacks as (
    select
        {{ of_attack | join(', ') }},
        max(n_queries) as n_queries,
        max(n_pairs) as n_pairs,
        coalesce(max(n_pairs) filter (where statistic = 'crossed'), 0) as n_below,
        {%- for statistic in statistics %}
            max(mean) filter (where statistic = '{{ statistic }}') as {{ statistic }},
            max(low) filter (where statistic = '{{ statistic }}') as {{ statistic }}_low,
            max(high) filter (where statistic = '{{ statistic }}') as {{ statistic }}_high,
        {%- endfor %}
        -- of a difference of two means (Zou and Donner, Statistics in Medicine 27 (2008)); a label
        -- that rises does not fall, so that the two are a little apart
        2 * pow({{ student_t_975('max(n_queries) - 1') }}, 2) * up * down / max(n_pairs) as apart
    from means
    group by all
),

rounds as (
    select
        collection,
        sentinel as probe,
        grader_id,
        round,
        max(graded_at) as finished_at
    from {{ source('raw', 'sentinel_grades') }}
    group by all
),

whole as (
    select
        collection,
        probe,
        grader_id,
        round,
        bool_and(is_whole) as is_whole
    from labels
    group by all
)

select
    attacks.collection,
    attacks.probe,
    graders.grader,
    attacks.rubric_version,
    attacks.round,
    rounds.finished_at,
    whole.is_whole,
    attacks.is_relevant,
    attacks.attack,
    attacks.n_queries,
    attacks.n_pairs,
    round(attacks.up - attacks.down, 10) as mean_rise,
    round(
        attacks.up - attacks.down - sqrt(
            pow(attacks.up - attacks.up_low, 2) + pow(attacks.down_high - attacks.down, 2)
            + attacks.apart
        ),
        10
    ) as mean_rise_low,
    round(
        attacks.up - attacks.down + sqrt(
            pow(attacks.up_high - attacks.up, 2) + pow(attacks.down - attacks.down_low, 2)
            + attacks.apart
        ),
        10
    ) as mean_rise_high,
    attacks.risen as risen_share,
    attacks.risen_low as risen_share_low,
    attacks.risen_high as risen_share_high,
    attacks.fallen as fallen_share,
    attacks.fallen_low as fallen_share_low,
    attacks.fallen_high as fallen_share_high,
    attacks.n_below,
    attacks.crossed as crossed_share,
    attacks.crossed_low as crossed_share_low,
    attacks.crossed_high as crossed_share_high,
    controls.risen as risen_again_share,
    controls.fallen as fallen_again_share,
    controls.crossed as crossed_again_share
from attacks
inner join {{ ref('int_own_graders') }} as graders using (grader_id)
inner join rounds using (collection, probe, grader_id, round)
inner join whole using (collection, probe, grader_id, round)
left join attacks as controls
    on
        attacks.collection = controls.collection
        and attacks.probe = controls.probe
        and attacks.grader_id = controls.grader_id
        and attacks.round = controls.round
        and attacks.is_relevant = controls.is_relevant
        and controls.attack = 'again'
