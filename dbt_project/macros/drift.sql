{# The first rounds of a sentinel, whose median label is what later ones are compared with. #}
{% macro reference_rounds() -%} 3 {%- endmacro %}


{# ln of the Bayes factor for two rates, one of `k` among `n` before a change and another of the
   rest of `k_all` among `n_all` after it, against one rate of all. Rates have Jeffreys' prior,
   under which k of n have the marginal likelihood B(k + 1/2, n - k + 1/2) / pi (Krichevsky and
   Trofimov 1981). #}
{% macro ln_change(k, n, k_all, n_all) -%}
    {{ ln_beta(k, n) }}
    + {{ ln_beta('(' ~ k_all ~ ' - ' ~ k ~ ')', '(' ~ n_all ~ ' - ' ~ n ~ ')') }}
    - {{ ln_beta(k_all, n_all) }}
    - ln(pi())
{%- endmacro %}


{% macro ln_beta(k, n) -%}
    (lgamma({{ k }} + 0.5) + lgamma({{ n }} - {{ k }} + 0.5) - lgamma({{ n }} + 1))
{%- endmacro %}


{# Of a row per round in which a change may have begun: the log10 of the Shiryaev-Roberts statistic,
   the sum of these Bayes factors. `most` is the greatest of their logarithms. #}
{% macro shiryaev_roberts(ln_factor, most) -%}
    round(
        (
            any_value({{ most }})
            + ln(sum(exp({{ ln_factor }} - {{ most }}) order by {{ ln_factor }}))
        ) / ln(10),
        6
    )
{%- endmacro %}
