with

described (schema_name, table_name, column_name, position, data_type, description) as (
    values
    {{ column_descriptions() }}
)

select
    schema_name,
    table_name,
    column_name,
    position,
    nullif(data_type, '') as data_type,
    nullif(description, '') as description
from described
