with

described (schema_name, table_name, description) as (
    values
    {{ table_descriptions() }}
)

select
    schema_name,
    table_name,
    nullif(description, '') as description
from described
