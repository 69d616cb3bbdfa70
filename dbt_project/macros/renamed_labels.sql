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

{% macro is_no_mapping(mapping) -%}
    (
        {{ mapping }} is not null
        and not regexp_full_match(
            trim({{ mapping }}), '-?\d{1,6}:-?\d{1,6}( +-?\d{1,6}:-?\d{1,6})*'
        )
    )
{%- endmacro %}

{% macro maps_twice(mapping) -%}
    (
        len(regexp_extract_all({{ mapping }}, '(-?\d+):', 1))
        > len(list_distinct(regexp_extract_all({{ mapping }}, '(-?\d+):', 1)))
    )
{%- endmacro %}
