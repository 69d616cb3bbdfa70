{{ config(
    materialized='parts',
    inputs='int_rubric_inputs',
    part_key="collection || '/' || grader || '/v' || rubric_version"
) }}

-- The ideal alpha-DCG of Clarke et al. 2008 (section 3), found greedily as ndeval does: at each
-- rank the passage that adds most, of equal ones that with the greatest id. An intent seen n times
-- before adds (1 - alpha)^n, alpha being 0.5.
with recursive

grader_items as (
    {{ rows_of_stale_parts(
        ref('int_grader_items'), ref('int_rubric_inputs'), 'collection, grader_id, rubric_version'
    ) }}
),

item_grades as (
    select * from {{ ref('int_item_grades') }}
),

grid as (
    select * from {{ ref('int_measures') }}
),

levels as (
    select * from {{ ref('evaluation_levels') }}
),

deepest as (
    select max(cutoff) as k
    from grid
    where family = 'alpha-nDCG'
),

-- most versions of a rubric leave most queries as they were: each set of items is looked at once
rubrics as (
    select
        collection,
        grader_id,
        grader,
        rubric_version,
        query_id,
        list(item_id order by item_id) as item_ids
    from grader_items
    group by all
),

variants as (
    select
        collection,
        grader_id,
        query_id,
        item_ids,
        row_number() over (order by collection, grader_id, query_id, item_ids) as variant_no
    from (select distinct
        collection,
        grader_id,
        query_id,
        item_ids
    from rubrics) as distinct_rubrics
),

-- which items of a variant a passage answers, by their place in it
passages as (
    select
        variants.variant_no,
        levels.level as tau,
        item_grades.passage_id,
        list(list_position(variants.item_ids, item_grades.item_id) order by item_grades.item_id)
            as intents
    from variants
    inner join item_grades
        on
            variants.collection = item_grades.collection
            and variants.grader_id = item_grades.grader_id
            and variants.query_id = item_grades.query_id
            and list_contains(variants.item_ids, item_grades.item_id)
    inner join levels on item_grades.grade >= levels.level
    group by all
),

-- of passages that answer the same items, no more than the ideal ranking can hold
candidates as (
    select
        *,
        row_number() over (
            partition by variant_no, tau
            order by passage_id desc
        ) as passage_no
    from passages
    qualify
        row_number() over (
            partition by variant_no, tau, intents
            order by passage_id desc
        ) <= (select deepest.k from deepest)
),

ideal_rankings as (
    select
        candidates.variant_no,
        candidates.tau,
        0 as rank,
        cast(0 as double) as gain,
        cast([] as bigint[]) as taken,
        -- what each item is still worth
        [cast(1 as double) for item_id in any_value(variants.item_ids)] as worths
    from candidates
    inner join variants using (variant_no)
    group by all
    union all
    (
        with

        gains as (
            select
                ideal_rankings.variant_no,
                ideal_rankings.tau,
                ideal_rankings.rank + 1 as rank,
                ideal_rankings.taken,
                ideal_rankings.worths,
                candidates.passage_no,
                candidates.intents,
                list_sum([ideal_rankings.worths[intent] for intent in candidates.intents]) as gain
            from ideal_rankings
            inner join candidates using (variant_no, tau)
            where
                ideal_rankings.rank < (select deepest.k from deepest)
                and not list_contains(ideal_rankings.taken, candidates.passage_no)
        )

        select
            variant_no,
            tau,
            rank,
            gain,
            list_append(taken, passage_no) as taken,
            [
                case when list_contains(intents, intent) then worth / 2 else worth end
                for worth, intent in worths
            ] as worths
        from gains
        qualify
            row_number() over (
                partition by variant_no, tau
                order by gain desc, passage_no asc
            ) = 1
    )
)

select
    rubrics.collection,
    rubrics.grader_id,
    rubrics.grader,
    rubrics.rubric_version,
    rubrics.query_id,
    ideal_rankings.tau,
    grid.cutoff as k,
    sum(ideal_rankings.gain / log2(ideal_rankings.rank + 1) order by ideal_rankings.rank) as gain
from ideal_rankings
inner join variants using (variant_no)
inner join rubrics using (collection, grader_id, query_id, item_ids)
inner join grid on ideal_rankings.rank <= grid.cutoff
where
    grid.family = 'alpha-nDCG'
    and ideal_rankings.rank > 0
group by all
