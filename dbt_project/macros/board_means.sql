{# Means over queries and their standard errors, one for each row of `cells`: CTEs up to `means`,
   which has score, score_answered, stderr, n_queries and n_answered beside the cell's columns.

   `by`: what names the queries of a mean. The model has the CTEs
   - board_queries: `by`, query_id, weight, cluster;
   - cells: `by`, level, system, measure; every system meets every query of its cell;
   - scored: as cells, and query_id, weight, cluster, value: what was answered; the rest counts 0.
   A cluster is null where all queries of the collection count alike (`int_query_weights`). #}
{% macro board_means(by) -%}
    {%- set board = by | join(', ') -%}
    {%- set cell = (by + ['level', 'system', 'measure']) | join(', ') -%}
-- as decimals, sums are exact: they do not depend on which thread adds first
even_sums as (
    select
        {{ cell }},
        cast(sum(cast(value as decimal(11, 10))) as decimal(18, 10)) as total,
        sum(cast(value as decimal(11, 10)) * cast(value as decimal(11, 10))) as squares,
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
        coalesce(even_sums.n_answered, 0) as n_answered
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

weighted_boards as (
    select
        {{ board }},
        cast(sum(n_queries) as bigint) as n_queries,
        count(*) as n_clusters,
        sum(weight order by cluster) as weight,
        sum(weight * weight order by cluster) as squared_weights
    from clusters
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
        {{ cell }},
        cast(sum(n_answered) as bigint) as n_answered,
        sum(weight_answered order by cluster) as weight_answered,
        sum(total order by cluster) as total
    from cluster_sums
    group by all
),

weighted_scores as (
    select
        cells.*,
        coalesce(weighted_sums.total, 0) / weighted_boards.weight as score,
        weighted_sums.total / weighted_sums.weight_answered as score_answered,
        weighted_boards.n_queries,
        coalesce(weighted_sums.n_answered, 0) as n_answered,
        weighted_boards.n_clusters,
        weighted_boards.weight,
        weighted_boards.squared_weights
    from cells
    inner join weighted_boards using ({{ board }})
    left join weighted_sums using ({{ cell }})
),

-- how far each cluster is from the mean; one with nothing answered, by all that the mean takes off
residuals as (
    select
        {{ cell }},
        sum(
            power(cluster_sums.total - weighted_scores.score * clusters.weight, 2)
            order by cluster
        ) as squares,
        sum(clusters.weight * clusters.weight order by cluster) as squared_weights
    from cluster_sums
    inner join weighted_scores using ({{ cell }})
    inner join clusters using ({{ board }}, cluster)
    group by all
),

weighted_means as (
    select
        weighted_scores.* exclude (n_clusters, weight, squared_weights),
        sqrt((
            coalesce(residuals.squares, 0)
            + weighted_scores.score * weighted_scores.score * greatest(
                weighted_scores.squared_weights - coalesce(residuals.squared_weights, 0), 0
            )
        ) * weighted_scores.n_clusters / nullif(weighted_scores.n_clusters - 1, 0))
        / weighted_scores.weight as stderr
    from weighted_scores
    left join residuals using ({{ cell }})
),

means as (
    select * from even_means
    union all by name
    select * from weighted_means
)
{%- endmacro %}
