{# Means over queries and their standard errors, one for each row of `cells`: CTEs up to `means`,
   which has score, score_4dp, score_answered, stderr, n_queries and n_answered, and the weight of
   the queries, beside the cell's columns.

   `by`: what names the queries of a mean. The model has the CTEs
   - board_queries: `by`, query_id, weight, cluster;
   - cells: `by`, level, system, measure; every system meets every query of its cell;
   - scored: as cells, and query_id, weight, cluster, value: what was answered; the rest counts 0.
   `cell`: the columns that name a cell, where fewer do; `scored` has these then.
   A cluster is null where all queries of the collection count alike (`int_query_weights`). #}
{% macro board_means(by, cell=none) -%}
    {%- set board = by | join(', ') -%}
    {%- set cell = (cell or by + ['level', 'system', 'measure']) | join(', ') -%}
-- as decimals, sums are exact: they do not depend on which thread adds first
even_sums as (
    select
        {{ cell }},
        cast(sum(cast(value as decimal(18, 10))) as decimal(18, 10)) as total,
        sum(cast(value as decimal(18, 10)) * cast(value as decimal(18, 10))) as squares,
        count(*) as n_answered
    from scored
    where cluster is null
    group by all
),

even_boards as (
    select
        {{ board }},
        count(*) as n_queries
    from board_queries
    where cluster is null
    group by all
),

even_means as (
    select
        cells.*,
        coalesce(even_sums.total, 0) / even_boards.n_queries as score,
        even_sums.total / even_sums.n_answered as score_answered,
        sqrt(
            even_boards.n_queries * coalesce(even_sums.squares, 0)
            - coalesce(even_sums.total * even_sums.total, 0)
        ) / (even_boards.n_queries * sqrt(nullif(even_boards.n_queries - 1, 0))) as stderr,
        even_boards.n_queries,
        coalesce(even_sums.n_answered, 0) as n_answered,
        even_boards.n_queries as weight
    from cells
    inner join even_boards using ({{ board }})
    left join even_sums using ({{ cell }})
),

-- sums of fractions depend on their order, so it is fixed
clusters as (
    select
        {{ board }},
        cluster,
        count(*) as n_queries,
        sum(weight order by query_id) as weight
    from board_queries
    where cluster is not null
    group by all
),

cluster_sums as (
    select
        {{ cell }},
        cluster,
        count(*) as n_answered,
        sum(weight order by query_id) as weight_answered,
        sum(weight * value order by query_id) as total
    from scored
    where cluster is not null
    group by all
),

weighted_sums as (
    select
        cells.*,
        cast(sum(clusters.n_queries) as bigint) as n_queries,
        cast(coalesce(sum(cluster_sums.n_answered), 0) as bigint) as n_answered,
        sum(cluster_sums.weight_answered order by cluster) as weight_answered,
        coalesce(sum(cluster_sums.total order by cluster), 0) as total,
        sum(clusters.weight order by cluster) as weight,
        list(
            { 'total': coalesce(cluster_sums.total, 0), 'weight': clusters.weight } order by cluster
        ) as of_clusters
    from cells
    inner join clusters using ({{ board }})
    left join cluster_sums using ({{ cell }}, cluster)
    group by all
),

-- the standard error is of how far each cluster is from the mean
weighted_means as (
    select
        * exclude (weight_answered, total, of_clusters),
        total / weight as score,
        total / weight_answered as score_answered,
        sqrt(
            list_sum([pow(each.total - total / weight * each.weight, 2) for each in of_clusters])
            * len(of_clusters) / nullif(len(of_clusters) - 1, 0)
        ) / weight as stderr
    from weighted_sums
),

means as (
    select
        * replace (
            round(score, 10) as score,
            round(score_answered, 10) as score_answered,
            round(stderr, 10) as stderr
        ),
        -- three thirds are 0.0000000001 less than 1: their mean rounds as that of 1 does
        round(round(score, 9), 4) as score_4dp
    from (
        select * from even_means
        union all by name
        select * from weighted_means
    )
)
{%- endmacro %}
