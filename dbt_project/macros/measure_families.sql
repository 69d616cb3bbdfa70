{# The families of measures: all that knows one reads it here. A new one is a row, and a formula
   in macros/measures. A row: its name, what may follow that ([]: or may not), kind, formula.

   kind      the formula may use, of one ranking
   binary    ranks (of passages labelled at or above the level), places (theirs among its labelled
             passages), n_retrieved; of the query n_relevant, n_nonrelevant (labels at or above the
             level, and below)
   graded    hits (rank, label and gain of each labelled passage); ideal_gain (the DCG of an ideal ranking);
             top_label (the greatest of the label set, at least 4)
   labelled  hits; it says how complete labels are, not how good a ranking is
   rubric    none: models/marts/coverage compute it from the grades of rubric items
   nuggets, criteria, support, battles
             of one answer, the columns of nugget_scores and its like (int_answer_scores); where it is null the
             answer has no score
   scores    of none of these families: what `gradelake import` brought, by the names it has there

   Of rankings each may use k (the cutoff, or more than any rank) and p; a null is 0. #}
{% macro each_measure_family() -%}
    {%- for name, suffix, kind, formula in [
        ('nDCG', '[@k]', 'graded', ndcg()),
        ('AP', '[@k]', 'binary', average_precision()),
        ('RR', '[@k]', 'binary', reciprocal_rank()),
        ('Rprec', '', 'binary', r_precision()),
        ('P', '@k', 'binary', precision()),
        ('R', '@k', 'binary', recall()),
        ('Success', '@k', 'binary', success()),
        ('ERR', '[@k]', 'graded', expected_reciprocal_rank()),
        ('RBP', '(p)[@k]', 'binary', rank_biased_precision()),
        ('bpref', '', 'binary', bpref()),
        ('SetP', '', 'binary', set_precision()),
        ('SetR', '', 'binary', set_recall()),
        ('SetF', '', 'binary', set_f()),
        ('Cover', '@k', 'rubric', none),
        ('alpha-nDCG', '@k', 'rubric', none),
        ('StrictVital', '', 'nuggets', 'strict_vital_score'),
        ('StrictAll', '', 'nuggets', 'strict_all_score'),
        ('Vital', '', 'nuggets', 'vital_score'),
        ('All', '', 'nuggets', 'all_score'),
        ('Criteria', '', 'criteria', 'criteria_score'),
        ('CriteriaStrict', '', 'criteria', 'strict_criteria_score'),
        ('SupportP', '', 'support', 'support_precision'),
        ('SupportR', '', 'support', 'support_recall'),
        ('SupportF1', '', 'support', 'support_f1'),
        ('WinRate', '', 'battles', 'win_rate'),
        ('Judged', '@k', 'labelled', judged()),
    ] -%}
        {{- caller(name, suffix, kind, formula, loop.index) -}}
    {%- endfor -%}
{%- endmacro %}

{# As rows, in the order in which they are shown. `pattern` is the regular expression of the names
   of its measures, `spelling` says the same to people. #}
{% macro measure_families() -%}
    select
        family,
        kind,
        replace(family || suffix, '(p)', '(p=0.8)') as spelling,
        family
        || replace(
            replace(
                replace(suffix, '[@k]', '(@k)?'),
                '@k', '@[1-9][0-9]{0,8}'
            ),
            '(p)', '\(p=0\.[0-9]*[1-9]\)'
        ) as pattern,
        place
    from (
        values
        {% call(name, suffix, kind, formula, place) each_measure_family() -%}
        {{ "," if place > 1 }} ('{{ name }}', '{{ kind }}', '{{ suffix }}', {{ place }})
    {%- endcall %}
    ) as listed (family, kind, suffix, place)
{%- endmacro %}

{# Those of `ranks` (ascending) in the top k. A comprehension with `if` would make three lists. #}
{% macro ranks_to(k) -%}
    if(ranks[-1] <= {{ k }}, ranks, list_filter(ranks[1:{{ k }}], lambda rank: rank <= {{ k }}))
{%- endmacro %}

{# The value of a measure for one ranking, by its family. #}
{% macro measure_value(kinds) -%}
    case family
    {%- call(name, suffix, kind, formula, place) each_measure_family() %}
        {%- if kind in kinds %}
        when '{{ name }}' then {{ formula }}
        {%- endif %}
    {%- endcall %}
    end
{%- endmacro %}

{# The k of a family's measures, which a query begins with. #}
{% macro with_cutoffs_of(family) -%}
with

cutoffs as (
    select distinct cutoff as k
    from {{ ref('measures') }}
    where family = '{{ family }}'
)
{%- endmacro %}
