{# Krippendorff's alpha of values that several people gave the same things: Krippendorff, Content
   Analysis (2004), section 11.3, with squared differences, which for values of 0 and 1 are nominal.
   Of a row per thing: `n` values, their `total` and the `total_squares`; those with one are left out
   before. Null where all values are equal. Defined by observed and expected disagreement,
   1 - Do / De, where both are sums of (v - w)^2 over pairs: of m values these are
   2 (m * sum of squares - square of sum). #}
{% macro krippendorff_alpha(n, total, total_squares) -%}
    1
    - (sum({{ n }}) - 1)
    * sum(({{ n }} * {{ total_squares }} - {{ total }} * {{ total }}) / ({{ n }} - 1))
    / nullif(sum({{ n }}) * sum({{ total_squares }}) - sum({{ total }}) * sum({{ total }}), 0)
{%- endmacro %}
