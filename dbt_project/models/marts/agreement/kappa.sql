{{ config(materialized='table') }}

{{ agreement_by(['collection', 'label_set', 'reference', 'is_sampled']) }}
