{{ config(materialized='view') }}

{{ measure_families() }}
