{# The mean of `x`, 0 or more, over the pairs of each group of a relation, with a 95 % interval over
   queries. A query's pairs may share what moves them, so its deviations are summed before they are
   squared (Cochran, Sampling Techniques (1977), section 9.7). The interval is Wilson's (1927) of a
   share, with Student's t, and as many pairs as would give that variance if each stood alone (Korn
   and Graubard, Survey Methodology 24 (1998)); as many as queries where queries do not differ, such
   as where x is 0 of all, which says nothing of how alike a query's pairs are. What is not 0 or 1 is made a share of `unit`, the
   size of x that has the same mean and square: sum(x^2) / sum(x). #}
{% macro mean_of_pairs(relation, groups) -%}
    {%- set columns = groups | join(', ') -%}
    with

    of_queries as (
        select
            {{ columns }},
            query_id,
            count(*) as n,
            sum(x) as total,
            sum(x * x) as squares
        from {{ relation }}
        group by all
    ),

    -- of whole numbers: exact in any order
    sums as (
        select
            {{ columns }},
            count(*) as n_queries,
            sum(n) as n_pairs,
            coalesce(sum(squares) / nullif(sum(total), 0), 1) as unit,
            sum(total) / n_pairs as mean,
            mean / unit as share,
            greatest(
                0, sum(total * total) - 2 * mean * sum(total * n) + mean * mean * sum(n * n)
            ) * n_queries / nullif(n_queries - 1, 0) / pow(n_pairs * unit, 2) as variance
        from of_queries
        group by all
    ),

    spreads as (
        select
            *,
            pow({{ student_t_975('n_queries - 1') }}, 2)
            / if(variance > 1e-15, share * (1 - share) / variance, n_queries) as z
        from sums
    )

    select
        {{ columns }},
        cast(n_queries as bigint) as n_queries,
        cast(n_pairs as bigint) as n_pairs,
        round(mean, 10) as mean,
        round(
            unit * (share + z / 2 - sqrt(z * (share * (1 - share) + z / 4))) / (1 + z), 10
        ) as low,
        round(
            unit * (share + z / 2 + sqrt(z * (share * (1 - share) + z / 4))) / (1 + z), 10
        ) as high
    from spreads
{%- endmacro %}
