{# Rows of a label set (`one`) beside those of its reference (`other`), of a relation of scores: an
   assessor's at its usual level, any other label set's at the same level. #}
{% macro compared(scores, keys) -%}
    from {{ ref('int_label_pairs') }} as label_pairs
    inner join {{ scores }} as one using (collection, label_set)
    inner join {{ ref('usual_levels') }} as usual_levels
        on
            label_pairs.collection = usual_levels.collection
            and label_pairs.reference = usual_levels.label_set
    inner join {{ scores }} as other
        on
            label_pairs.collection = other.collection
            and label_pairs.reference = other.label_set
            {% for key in keys %}and one.{{ key }} = other.{{ key }} {% endfor %}
            and other.level = case
                when label_pairs.assessor is null then one.level else usual_levels.level
            end
{%- endmacro %}
