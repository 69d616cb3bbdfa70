with

reviews as (
    select reviews.*
    from {{ ref('int_assessor_grades') }} as reviews
    inner join {{ ref('int_own_graders') }} as graders using (grader_id)
    where
        graders.kind = 'battle'
        and not reviews.settles
        and reviews.assessor_grade is not null
),

-- both bad leaves no winner, as a tie does; who is null is the judge
said as (
    {% for who, verdict in (('assessor', 'assessor_grade'), ('null', 'grade')) %}
        select
            collection,
            grader_id,
            reveal,
            query_id,
            passage_id,
            item_id,
            assessor,
            {{ who }} as who,
            case {{ verdict }} when 3 then 'first' when 0 then 'second' else 'tie' end as verdict
        from reviews
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

-- two people, or one and the judge
pairs as (
    select
        ours.collection,
        ours.grader_id,
        ours.reveal,
        ours.who as assessor,
        theirs.who as other_assessor,
        ours.verdict,
        theirs.verdict as other_verdict
    from said as ours
    inner join said as theirs
        using (collection, grader_id, reveal, query_id, passage_id, item_id)
    where ours.who < theirs.who or (theirs.who is null and ours.who = theirs.assessor)
),

counts as (
    select
        collection,
        grader_id,
        reveal,
        assessor,
        other_assessor,
        count(*) as n_battles,
        count(*) filter (where verdict = other_verdict) as n_same,
        {% for verdict in ('first', 'second', 'tie') %}
            count(*) filter (where verdict = '{{ verdict }}')
            * count(*) filter (where other_verdict = '{{ verdict }}')
            {{ '+' if not loop.last }}
        {% endfor %} as n_by_chance
    from pairs
    group by all
)

select
    counts.collection,
    graders.grader,
    counts.assessor,
    counts.other_assessor,
    counts.reveal,
    counts.n_battles,
    counts.n_same,
    round(counts.n_same / counts.n_battles, 10) as share_same,
    round(
        (counts.n_same / counts.n_battles - counts.n_by_chance / counts.n_battles ** 2)
        / nullif(1 - counts.n_by_chance / counts.n_battles ** 2, 0),
        10
    ) as kappa
from counts
inner join {{ ref('int_own_graders') }} as graders using (grader_id)
order by all
