with

graders as (
    select * from {{ ref('int_own_graders') }}
)

select
    graders.grader_id,
    graders.grader,
    graders.trial,
    first_trials.grader as first_trial,
    count(*) over (partition by first_trials.grader_id) as n_trials
from graders
inner join graders as first_trials on graders.trial_of = first_trials.grader_id
