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


{# How likely a Student's t of `df` degrees of freedom, 1 or more, is as far from 0 as `t`, or
   farther: 2 * the integral of sin(x)^(df - 1) from 0 to atan2(sqrt(df), |t|), over
   B(1/2, df / 2) (with t = sqrt(df) / tan(x); Abramowitz and Stegun, Handbook of Mathematical
   Functions (1964), 26.7.1). x = s^2 makes it smooth at 0, and Simpson's rule does the rest: within
   1e-6 for 200 degrees, and closer for fewer. #}
{% macro student_t_p(t, df) -%}
    least(1, 2 * list_sum([
        if(i = 400, 1, if(i % 2 = 1, 4, 2))
        * 2 * sqrt(atan2(sqrt({{ df }}), abs({{ t }}))) * i / 400
        * power(sin(atan2(sqrt({{ df }}), abs({{ t }})) * i * i / 160000), {{ df }} - 1)
        for i in range(1, 401)
    ]) * sqrt(atan2(sqrt({{ df }}), abs({{ t }}))) / 1200
    / exp(lgamma(0.5) + lgamma({{ df }} / 2) - lgamma({{ df }} / 2 + 0.5)))
{%- endmacro %}
