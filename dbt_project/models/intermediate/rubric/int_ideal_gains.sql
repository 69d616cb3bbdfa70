{{ config(materialized='parts', inputs='int_distinct_rubrics') }}

-- The ideal alpha-DCG of Clarke et al. 2008 (section 3), found greedily as ndeval does: at each
-- rank the passage that adds most, of equal ones that with the greatest id. An intent seen n times
-- before adds (1 - alpha)^n, alpha being 0.5.
with recursive

grid as (
    select * from {{ ref('measures') }}
),

deepest as (
    select max(cutoff) as k
    from grid
    where family = 'alpha-nDCG'
),

rubric_items as (
    select
        stale_rubrics.part,
        grader_items.collection,
        grader_items.grader_id,
        grader_items.query_id,
        grader_items.item_id,
        grader_items.gold_sha256,
        row_number() over (
            partition by stale_rubrics.part
            order by grader_items.item_id
        ) as item_no,
        count(*) over (partition by stale_rubrics.part) as n_items
    from {{ ref('int_distinct_rubrics') }} as stale_rubrics
    inner join {{ ref('grader_items') }} as grader_items
        using (collection, grader_id, rubric_version, query_id)
),

-- for each item of a rubric 1 where a passage answers it, else 0
passages as (
    select
        rubric_items.part,
        levels.level as tau,
        item_grades.passage_id,
        [
            cast(list_contains(list(rubric_items.item_no), item_no) as double)
            for item_no in range(1, any_value(rubric_items.n_items) + 1)
        ] as answers
    from {{ ref('int_item_grades') }} as item_grades
    inner join rubric_items on {{ is_of_item('item_grades', 'rubric_items') }}
    inner join {{ ref('evaluation_levels') }} as levels on item_grades.grade >= levels.level
    group by all
),

-- of passages that answer the same items, no more than the ideal ranking can hold
candidates as (
    select
        *,
        row_number() over (
            partition by part, tau
            order by passage_id desc
        ) as passage_no
    from passages
    qualify
        row_number() over (
            partition by part, tau, answers
            order by passage_id desc
        ) <= (select deepest.k from deepest)
),

ideal_rankings as (
    select
        candidates.part,
        candidates.tau,
        0 as rank,
        cast(0 as double) as gain,
        cast([] as bigint[]) as taken,
        -- what each item is still worth
        [cast(1 as double) for answer in any_value(candidates.answers)] as worths
    from candidates
    group by all
    union all
    (
        with

        best_passages as (
            select
                ideal_rankings.part,
                ideal_rankings.tau,
                max({
                    'gain': list_inner_product(ideal_rankings.worths, candidates.answers),
                    'place': -candidates.passage_no
                }) as best
            from candidates
            inner join ideal_rankings using (part, tau)
            where
                ideal_rankings.rank < (select deepest.k from deepest)
                and not list_contains(ideal_rankings.taken, candidates.passage_no)
            group by all
        )

        select
            ideal_rankings.part,
            ideal_rankings.tau,
            ideal_rankings.rank + 1 as rank,
            best_passages.best.gain,
            list_append(ideal_rankings.taken, candidates.passage_no) as taken,
            [
                worth / (1 + candidates.answers[nth])
                for worth, nth in ideal_rankings.worths
            ] as worths
        from candidates
        inner join best_passages using (part, tau)
        inner join ideal_rankings using (part, tau)
        where candidates.passage_no = -best_passages.best.place
    )
)

select
    ideal_rankings.part,
    ideal_rankings.tau,
    grid.cutoff as k,
    sum(ideal_rankings.gain / log2(ideal_rankings.rank + 1) order by ideal_rankings.rank) as gain
from ideal_rankings
inner join grid on ideal_rankings.rank <= grid.cutoff
where
    grid.family = 'alpha-nDCG'
    and ideal_rankings.rank > 0
group by all
