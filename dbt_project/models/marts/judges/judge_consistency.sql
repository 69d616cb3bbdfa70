with

-- how often each grade was given to one thing
votes as (
    select
        grades.collection,
        trials.first_trial as grader,
        grades.query_id,
        grades.item_id,
        grades.passage_id,
        grades.gold_sha256,
        grades.grade,
        count(*) as n
    from {{ ref('int_grades_in_force') }} as grades
    inner join {{ ref('int_trials') }} as trials using (grader_id)
    where
        trials.n_trials > 1
        and grades.grade is not null
    group by all
),

-- what was asked once alone says nothing of consistency
graded as (
    select
        collection,
        grader,
        query_id,
        item_id,
        passage_id,
        gold_sha256,
        sum(n) as n,
        sum(n * (n - 1)) as n_equal,
        sum(n * grade) as total,
        sum(n * grade * grade) as total_squares,
        count(*) > 1 as flipped
    from votes
    group by all
    having sum(n) > 1
)

select
    collection,
    grader,
    case grouping(query_id, item_id)
        when 3 then 'all'
        when 1 then 'query'
        else 'item'
    end as part,
    query_id,
    item_id,
    count(*) as n_pairs,
    cast(sum(n) as bigint) as n_grades,
    round(sum(n_equal) / sum(n * (n - 1)), 10) as self_agreement,
    round(count(*) filter (where flipped) / count(*), 10) as flip_rate,
    round({{ krippendorff_alpha('n', 'total', 'total_squares') }}, 10) as graded_alpha
from graded
group by
    grouping sets (
        (collection, grader),
        (collection, grader, query_id),
        (collection, grader, query_id, item_id)
    )
-- graders of whole passages have no items
having grouping(item_id) = 1 or item_id != ''
order by all
