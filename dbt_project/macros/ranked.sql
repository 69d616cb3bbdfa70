{# The passages of `rankings` (collection, system, query_id, ...), each with its rank by trec_eval:
   by score as a 32-bit float, then passage id bytewise, both descending. #}
{% macro ranked(rankings) -%}
    with

    -- a whole number for each ranking: much faster to sort by than strings
    numbered_rankings as (
        select
            *,
            row_number() over (order by collection, system, query_id) as ranking_id
        from {{ rankings }}
    ),

    entries as (
        select
            numbered_rankings.ranking_id,
            run_entries.passage_id,
            run_entries.ranking_score
        from {{ ref('int_run_entries') }} as run_entries
        inner join numbered_rankings using (collection, system, query_id)
        anti join {{ ref('int_left_out_passages') }} using (collection, passage_id)
    ),

    ranked_entries as (
        select
            ranking_id,
            passage_id,
            row_number() over (
                partition by ranking_id
                order by ranking_score desc, passage_id desc
            ) as rank,
            count(*) over (partition by ranking_id) as n_retrieved
        from entries
    )

    select
        numbered_rankings.* exclude (ranking_id),
        ranked_entries.passage_id,
        cast(ranked_entries.rank as integer) as rank,
        ranked_entries.n_retrieved
    from ranked_entries
    inner join numbered_rankings using (ranking_id)
{%- endmacro %}
