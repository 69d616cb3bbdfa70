{# Student's t that 97.5 % lie below, of `df` degrees of freedom, rounded down: exact for 1 and 2,
   else within 0.2 % (Cornish and Fisher's series, Abramowitz and Stegun, Handbook of Mathematical
   Functions (1964), 26.7.5). #}
{% macro student_t_975(df) -%}
    case greatest(1, floor({{ df }}))
        when 1 then 12.7062047364
        when 2 then 4.3026527297
        else
            1.9599639845
            + 2.3722712303 / floor({{ df }})
            + 2.8224986157 / power(floor({{ df }}), 2)
            + 2.5558496795 / power(floor({{ df }}), 3)
            + 1.5895340534 / power(floor({{ df }}), 4)
    end
{%- endmacro %}
