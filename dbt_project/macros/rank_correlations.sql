{# How alike a relation's two columns order the systems of each group; both are high for good ones.

   - spearman: Pearson's correlation of the ranks, tied systems sharing the average rank
   - kendall: tau-b (Kendall 1945)
   - tau_ap: weighs mistakes at the top more (Yilmaz et al. 2008), in the symmetric form that allows
     for ties (tau-AP,b of Urbano and Marrero 2017)
   - rbo: rank-biased overlap, extrapolated, p = 0.9 (Webber et al. 2010, equation 32; tied systems
     enter at the same depth, section 5.4)

   Null when one side does not vary. Two systems tie where `compared_scores` says so. Systems are numbered, because there are many pairs, and whole
   numbers are much faster to join than strings. #}
{% macro rank_correlations(relation, groups, one_side, other_side) -%}
    {%- set columns = groups | join(', ') -%}
    with

    numbered as (
        select
            {{ columns }},
            dense_rank() over (order by {{ columns }}) as group_no,
            row_number() over (order by {{ columns }}, system) as system_no,
            {{ one_side }} as one_side,
            {{ other_side }} as other_side
        from {{ relation }}
    ),

    -- who beats whom: 1 where the other is higher
    pairs as (
        select
            numbered.group_no,
            numbered.system_no,
            other.system_no as other_no,
            {{ compared_scores('other.one_side', 'numbered.one_side') }} as one_sign,
            {{ compared_scores('other.other_side', 'numbered.other_side') }} as other_sign
        from numbered
        left join numbered as other
            on
                numbered.group_no = other.group_no
                and numbered.system_no != other.system_no
    ),

    -- each system against all: how many are above it, on one side, the other, and both
    places as (
        select
            group_no,
            system_no,
            count(other_no) as n_others,
            count(*) filter (where one_sign > 0) as one_above,
            count(*) filter (where other_sign > 0) as other_above,
            count(*) filter (where one_sign > 0 and other_sign > 0) as both_above,
            count(*) filter (where one_sign != 0) as one_untied,
            count(*) filter (where other_sign != 0) as other_untied,
            coalesce(sum(one_sign * other_sign), 0) as concordance
        from pairs
        group by all
    ),

    ranked as (
        select
            *,
            one_above + 1 as one_rank,
            other_above + 1 as other_rank,
            one_above + 1 + (n_others - one_untied) / 2 as one_shared_rank,
            other_above + 1 + (n_others - other_untied) / 2 as other_shared_rank
        from places
    ),

    correlated as (
        select
            group_no,
            count(*) as n_systems,
            corr(one_shared_rank, other_shared_rank order by one_shared_rank, other_shared_rank)
                as spearman,
            sum(concordance) / sqrt(sum(one_untied) * sum(other_untied)) as kendall,
            avg(both_above / one_above order by one_above, both_above)
                filter (where one_above > 0)
            + avg(both_above / other_above order by other_above, both_above)
                filter (where other_above > 0)
            - 1 as tau_ap,
            list(one_rank) as one_ranks,
            list(other_rank) as other_ranks,
            list(greatest(one_rank, other_rank)) as depths_of_both
        from ranked
        group by group_no
        having sum(one_untied) > 0 and sum(other_untied) > 0
    ),

    depth_overlaps as (
        select
            group_no,
            pow(0.9, n_systems) + list_sum([
                0.1 * pow(0.9, depth - 1) * 2 * len([d for d in depths_of_both if d <= depth])
                / (
                    len([rank for rank in one_ranks if rank <= depth])
                    + len([rank for rank in other_ranks if rank <= depth])
                )
                for depth in range(1, n_systems + 1)
            ]) as rbo
        from correlated
    ),

    group_sizes as (
        select
            {{ columns }},
            group_no,
            count(*) as n_systems,
            {{ compared_scores('max(one_side)', 'min(one_side)') }} = 0 as is_one_constant,
            {{ compared_scores('max(other_side)', 'min(other_side)') }} = 0 as is_other_constant
        from numbered
        group by all
    )

    select
        {% for column in groups %}group_sizes.{{ column }}, {% endfor %}
        round(correlated.spearman, 10) as spearman,
        round(correlated.kendall, 10) as kendall,
        round(correlated.tau_ap, 10) as tau_ap,
        round(depth_overlaps.rbo, 10) as rbo,
        group_sizes.n_systems,
        group_sizes.is_one_constant,
        group_sizes.is_other_constant
    from group_sizes
    left join correlated using (group_no)
    left join depth_overlaps using (group_no)
{%- endmacro %}


{# 1 where one score is higher, -1 where it is lower, 0 where they tie. A mean is of values that are
   stored with 10 decimals: three thirds are 0.0000000001 less than 1, and yet tie with it. (`TIE`
   of sql/common/rank_correlation.py) #}
{% macro compared_scores(one, other) -%}
    case when abs({{ one }} - {{ other }}) > 1e-9 then sign({{ one }} - {{ other }}) else 0 end
{%- endmacro %}


{# Why two boards of ours have no correlation. #}
{% macro why_undefined() -%}
    case
        when n_systems < 2 then 'fewer than two systems have both scores'
        when is_one_constant then 'all scores are equal to 4 decimals'
        when is_other_constant then 'all scores of the reference are equal to 4 decimals'
    end
{%- endmacro %}
