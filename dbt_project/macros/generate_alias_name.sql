{# The newest version of a mart has the plain name, and older ones stand beside it: `kappa` and
   `kappa_v1`, once there is a second. #}
{% macro generate_alias_name(custom_alias_name, node) -%}
    {%- if node.version and node.version != node.latest_version -%}
        {{ node.name }}_v{{ node.version }}
    {%- else -%}
        {{ custom_alias_name or node.name }}
    {%- endif -%}
{%- endmacro %}
