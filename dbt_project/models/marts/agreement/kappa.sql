{{ config(materialized='table') }}

with

kappas as (
    {{ kappas(
        ref('int_confusions'),
        ['collection', 'label_set', 'reference', 'is_sampled'],
        ref('int_agreement_cuts')
    ) }}
)

select
    kappas.collection,
    kappas.label_set,
    kappas.reference,
    label_pairs.assessor,
    kappas.is_sampled,
    kappas.kind,
    kappas.cut,
    {{ agreement_columns() }}
from kappas
inner join {{ ref('int_label_pairs') }} as label_pairs using (collection, label_set, reference)
