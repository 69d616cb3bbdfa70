{# Cohen's kappa (1960) of label pairs counted in `cells` (label, judgment, n), per group: of each
   cut into two classes, and of all labels with unit (graded), linear and quadratic weights (Cohen
   1968). Labels below 0 count as 0. Null when chance alone would agree fully: one class only. `cuts`
   has the ways to make two classes, as `int_agreement_cuts`; without it there are all labels only. #}
{% macro kappas(cells, groups, cuts=none) -%}
    {%- set columns = groups | join(', ') -%}
    with

    cells as (
        select
            {{ columns }},
            greatest(label, 0) as label,
            greatest(judgment, 0) as judgment,
            sum(n) as n
        from {{ cells }}
        group by all
    ),

    {% if cuts -%}
    classes as (
        select
            {% for column in groups %}cells.{{ column }}, {% endfor %}
            cuts.kind,
            cuts.cut,
            cuts.label_cut,
            cuts.reference_cut,
            cells.n,
            case cuts.kind
                when 'boxed' then cells.label = cuts.label_cut
                else cells.label >= cuts.label_cut
            end as is_label,
            case cuts.kind
                when 'boxed' then cells.judgment = cuts.reference_cut
                else cells.judgment >= cuts.reference_cut
            end as is_reference
        from cells
        inner join {{ cuts }} as cuts using (collection, label_set, reference)
    ),

    counts as (
        select
            {{ columns }},
            kind,
            cut,
            label_cut,
            reference_cut,
            sum(n) as n,
            coalesce(sum(n) filter (where is_label and is_reference), 0) as n_both,
            coalesce(sum(n) filter (where is_label and not is_reference), 0) as n_label_only,
            coalesce(sum(n) filter (where is_reference and not is_label), 0) as n_reference_only,
            coalesce(sum(n) filter (where not is_label and not is_reference), 0) as n_neither
        from classes
        group by all
    ),

    of_two_classes as (
        select
            *,
            (n_both + n_neither) / n as observed,
            (
                (n_both + n_label_only) * (n_both + n_reference_only)
                + (n_neither + n_label_only) * (n_neither + n_reference_only)
            ) / (n * n) as expected,
            {{ kappa_of_two_classes(
                'n_both', 'n_label_only', 'n_reference_only', 'n_neither'
            ) }} as kappa
        from counts
    ),
    {%- endif %}

    label_totals as (
        select {{ columns }}, label, sum(n) as n_label
        from cells
        group by all
    ),

    judgment_totals as (
        select {{ columns }}, judgment, sum(n) as n_judgment
        from cells
        group by all
    ),

    totals as (
        select
            {{ columns }},
            sum(n) as n,
            greatest(max(label), max(judgment), 1) as range
        from cells
        group by all
    ),

    by_chance as (
        select
            {% for column in groups %}totals.{{ column }}, {% endfor %}
            label_totals.label,
            judgment_totals.judgment,
            label_totals.n_label * judgment_totals.n_judgment / totals.n as n_by_chance
        from totals
        inner join label_totals using ({{ columns }})
        inner join judgment_totals using ({{ columns }})
    ),

    -- how far apart labels are, as a share of how far apart they could be
    distances as (
        select
            {% for column in groups %}by_chance.{{ column }}, {% endfor %}
            kinds.kind,
            totals.n,
            case kinds.kind
                when 'graded' then cast(by_chance.label != by_chance.judgment as integer)
                when 'linear' then abs(by_chance.label - by_chance.judgment) / totals.range
                when 'quadratic' then pow((by_chance.label - by_chance.judgment) / totals.range, 2)
            end as distance,
            by_chance.n_by_chance,
            coalesce(cells.n, 0) as n_observed
        from by_chance
        inner join totals using ({{ columns }})
        left join cells using ({{ columns }}, label, judgment)
        cross join (values ('graded'), ('linear'), ('quadratic')) as kinds (kind)
    ),

    of_all_labels as (
        select
            {{ columns }},
            kind,
            '' as cut,
            n,
            1 - sum(distance * n_observed order by distance, n_observed) / n as observed,
            1 - sum(distance * n_by_chance order by distance, n_by_chance) / n as expected,
            1 - sum(distance * n_observed order by distance, n_observed)
            / nullif(sum(distance * n_by_chance order by distance, n_by_chance), 0) as kappa
        from distances
        group by {{ columns }}, kind, n
    )

    {% if cuts -%}
    select * from of_two_classes
    union all by name
    {%- endif %}
    select * from of_all_labels
{%- endmacro %}


{# The four counts of two classes, of grades from two sides: whether each is at or above tau. #}
{% macro counts_of_two_classes(tau, one, other, one_only, other_only) -%}
    count(*) filter (where {{ one }} >= {{ tau }} and {{ other }} >= {{ tau }}) as n_both,
    count(*) filter (where {{ one }} >= {{ tau }} and {{ other }} < {{ tau }}) as {{ one_only }},
    count(*) filter (where {{ one }} < {{ tau }} and {{ other }} >= {{ tau }}) as {{ other_only }},
    count(*) filter (where {{ one }} < {{ tau }} and {{ other }} < {{ tau }}) as n_neither
{%- endmacro %}


{# Cohen's kappa of two classes from their four counts; null when both sides say one thing only. #}
{% macro kappa_of_two_classes(both, one_only, other_only, neither) -%}
    2 * ({{ both }} * {{ neither }} - {{ one_only }} * {{ other_only }})
    / nullif(
        ({{ both }} + {{ one_only }}) * ({{ one_only }} + {{ neither }})
        + ({{ both }} + {{ other_only }}) * ({{ other_only }} + {{ neither }}),
        0
    )
{%- endmacro %}


{# `kappa` and `kappa_by_query`, of label sets and their references by `groups`. Prevalence and bias
   index: Byrt, Bishop and Carlin 1993; both tell when a low kappa comes from rare labels, or from
   one side labelling more. #}
{% macro agreement_by(groups) -%}
with

kappas as (
    {{ kappas(ref('int_confusions'), groups, ref('int_agreement_cuts')) }}
)

select
    kappas.collection,
    kappas.label_set,
    kappas.reference,
    label_pairs.assessor,
    {% for column in groups[3:] %}kappas.{{ column }}, {% endfor %}
    kappas.kind,
    kappas.cut,
    cast(kappas.label_cut as integer) as label_cut,
    cast(kappas.reference_cut as integer) as reference_cut,
    round(kappas.kappa, 10) as kappa,
    cast(kappas.n as bigint) as n,
    round(kappas.observed, 10) as observed,
    round(kappas.expected, 10) as expected,
    cast(kappas.n_both as bigint) as n_both,
    cast(kappas.n_label_only as bigint) as n_label_only,
    cast(kappas.n_reference_only as bigint) as n_reference_only,
    cast(kappas.n_neither as bigint) as n_neither,
    round(kappas.n_both / nullif(kappas.n_both + kappas.n_label_only, 0), 10) as precision,
    round(kappas.n_both / nullif(kappas.n_both + kappas.n_reference_only, 0), 10) as recall,
    round((kappas.n_both - kappas.n_neither) / kappas.n, 10) as prevalence_index,
    round((kappas.n_label_only - kappas.n_reference_only) / kappas.n, 10) as bias_index,
    label_pairs.is_common_scale,
    round(kappas.n_neither / nullif(kappas.n_neither + kappas.n_label_only, 0), 10) as specificity
from kappas
inner join {{ ref('int_label_pairs') }} as label_pairs using (collection, label_set, reference)
{%- endmacro %}
