{{ config(materialized='view') }}

with

review_agreement as (
    select * from {{ ref('review_agreement', v=2) }}
)

select
    collection,
    grader,
    assessor,
    tau,
    n_reviewed,
    n_agreed,
    share_agreed,
    n_graded,
    n_both,
    n_grader_only,
    n_assessor_only,
    n_neither,
    observed,
    kappa,
    precision,
    recall
from review_agreement
where reveal = 'after'
