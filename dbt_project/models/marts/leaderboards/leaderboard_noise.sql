-- The analysis of variance of queries and trials (Brennan, Generalizability Theory (2001), chapter
-- 2): a score is the mean, plus what the query adds, plus what the trial adds, plus the rest.
with

-- under the name that they have of the first trial
trial_label_sets as (
    select
        label_sets.collection,
        label_sets.label_set,
        replace(label_sets.label_set, trials.grader, trials.first_trial) as first_label_set
    from {{ ref('label_sets') }} as label_sets
    inner join {{ ref('int_trials') }} as trials
        on
            coalesce(
                label_sets.grader, regexp_extract(label_sets.label_set, '^judge:(.*)$', 1)
            ) = trials.grader
    where trials.n_trials > 1
),

boards as (
    select
        leaderboard.collection,
        trial_label_sets.first_label_set as label_set,
        leaderboard.level,
        leaderboard.system,
        leaderboard.measure,
        leaderboard.n_queries,
        leaderboard.label_set as trial_label_set
    from {{ ref('leaderboard') }} as leaderboard
    inner join trial_label_sets using (collection, label_set)
    anti join {{ ref('int_query_weights') }} using (collection)
),

-- a query that was left unanswered scores 0: it adds nothing to a sum, and so has no row. Whole
-- numbers, of 1e-10 each, so that sums of squares are exact and no difference falls below 0
scores as (
    select
        boards.*,
        topic_scores.query_id,
        cast(round(topic_scores.value * 1e10) as hugeint) as value
    from boards
    inner join {{ ref('topic_scores') }} as topic_scores
        using (collection, level, system, measure)
    where boards.trial_label_set = topic_scores.label_set
),

query_sums as (
    select
        * exclude (trial_label_set, value),
        sum(value) as total,
        sum(value * value) as squares
    from scores
    group by all
),

trial_sums as (
    select
        * exclude (query_id, value),
        sum(value) as total
    from scores
    group by all
),

trial_counts as (
    select
        * exclude (trial_label_set),
        count(*) as n_trials
    from boards
    group by all
    having count(*) > 1
),

of_queries as (
    select
        * exclude (query_id, total, squares),
        sum(total) as total,
        sum(squares) as squares,
        sum(total * total) as squares_of_queries
    from query_sums
    group by all
),

of_trials as (
    select
        * exclude (trial_label_set, total),
        sum(total * total) as squares_of_trials
    from trial_sums
    group by all
),

-- each times n_queries * n_trials
sums_of_squares as (
    select
        trial_counts.*,
        n_queries * n_trials * 1e20 as unit,
        coalesce(total, 0) / (n_queries * n_trials * 1e10) as score,
        coalesce(n_queries * squares_of_queries - total * total, 0) as between_queries,
        coalesce(n_trials * squares_of_trials - total * total, 0) as between_trials,
        coalesce(n_queries * n_trials * squares - total * total, 0) as of_all
    from trial_counts
    left join of_queries
        using (collection, label_set, level, system, measure, n_queries)
    left join of_trials
        using (collection, label_set, level, system, measure, n_queries)
    where n_queries > 1
),

mean_squares as (
    select
        *,
        between_queries / ((n_queries - 1) * unit) as of_queries,
        between_trials / ((n_trials - 1) * unit) as of_trials,
        (of_all - between_queries - between_trials)
        / ((n_queries - 1) * (n_trials - 1) * unit) as of_rest
    from sums_of_squares
),

-- trials that differ less than chance would have it add nothing
variances as (
    select
        *,
        (of_queries + greatest(of_trials - of_rest, 0)) / (n_queries * n_trials) as variance,
        -- Satterthwaite, Biometrics Bulletin 2 (1946)
        if(
            of_trials <= of_rest,
            n_queries - 1,
            power(of_queries + of_trials - of_rest, 2) / (
                power(of_queries, 2) / (n_queries - 1)
                + power(of_trials, 2) / (n_trials - 1)
                + power(of_rest, 2) / ((n_queries - 1) * (n_trials - 1))
            )
        ) as df
    from mean_squares
)

select
    collection,
    label_set,
    level,
    system,
    measure,
    n_queries,
    n_trials,
    round(score, 10) as score,
    round(sqrt(of_queries / (n_queries * n_trials)), 10) as stderr_queries,
    round(sqrt(of_trials / (n_queries * n_trials)), 10) as stderr_trials,
    round(sqrt(variance), 10) as stderr,
    round(score - {{ student_t_975('df') }} * sqrt(variance), 10) as low,
    round(score + {{ student_t_975('df') }} * sqrt(variance), 10) as high
from variances
order by
    collection asc,
    label_set asc,
    level asc,
    measure asc,
    score desc,
    system asc
