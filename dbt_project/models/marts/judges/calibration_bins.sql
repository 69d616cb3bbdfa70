-- ten bins of one width; a probability on an edge is of the bin below, 0 of the first
with

judged as (
    select
        held.*,
        judgments.assessor,
        cast(judgments.relevance >= collections.min_relevant as integer) as is_relevant,
        cast(greatest(ceil(round(10 * held.probability, 9)), 1) as integer) as bin
    from {{ ref('int_held_probabilities') }} as held
    inner join {{ source('raw', 'judgments') }} as judgments
        using (collection, query_id, passage_id)
    inner join {{ source('raw', 'collections') }} as collections using (collection)
    -- what a judge's label rubrics were distilled from says nothing about it
    anti join {{ ref('sampled_pairs') }} as sampled
        on
            held.collection = sampled.collection
            and 'judge:' || held.grader = sampled.label_set
            and held.query_id = sampled.query_id
            and held.passage_id = sampled.passage_id
)

select
    collection,
    grader,
    rubric_version,
    assessor,
    cut,
    bin,
    (bin - 1) / 10 as low,
    bin / 10 as high,
    count(*) as n,
    round(avg(probability), 10) as mean_probability,
    round(avg(is_relevant), 10) as relevant_share,
    round(avg(power(probability - is_relevant, 2)), 10) as squared_error,
    round(avg(scale_mass), 10) as mean_scale_mass
from judged
group by all
order by all
