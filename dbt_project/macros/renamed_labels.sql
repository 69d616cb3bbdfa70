{# A seed's `mapping`, such as 5:3 4:1, that renames labels: as a map, and what is wrong with it. #}
{% macro mapping_as_map(mapping) -%}
    case
        when {{ mapping }} is not null
            then map_from_entries([
                (
                    cast(split_part(pair, ':', 1) as integer),
                    cast(split_part(pair, ':', 2) as integer)
                )
                for pair in regexp_split_to_array(trim({{ mapping }}), ' +')
            ])
    end
{%- endmacro %}

{% macro renamed(label, mapping) -%}
    case
        when {{ mapping }} is null then {{ label }}
        else coalesce({{ mapping }}[cast({{ label }} as integer)], 0)
    end
{%- endmacro %}

{# What can be wrong with a mapping, conditions of a `case`. #}
{% macro mapping_is_wrong() -%}
    when not regexp_full_match(trim(mapping), '-?\d{1,6}:-?\d{1,6}( +-?\d{1,6}:-?\d{1,6})*')
            then 'mapping must look like 5:3 4:1'
    when
            len(regexp_extract_all(mapping, '(-?\d+):', 1))
            > len(list_distinct(regexp_extract_all(mapping, '(-?\d+):', 1)))
            then 'mapping names a label twice'
{%- endmacro %}
