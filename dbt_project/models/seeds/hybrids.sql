-- Every row of seeds/hybrids.csv that cannot be applied, and why.
with

rows_of_file as (
    select
        *,
        regexp_extract(
            label_set, '^(?:judge:(.+)|(.+)/v\d+/([^/]+))$', ['judge', 'grader', 'policy']
        ) as made_by
    from {{ file_rows() }}
),

-- how far up each side goes, as far as it is known
scales as (
    select
        rows_of_file.*,
        collections.collection is not null as is_collection,
        (rows_of_file.collection, rows_of_file.assessor)
        in (select (collection, assessor) from {{ source('raw', 'judgments') }}) as has_judged,
        graders.grader is not null
        and (graders.target = 'direct') = (made_by['judge'] != '')
        and (made_by['judge'] != '' or policies.policy is not null) as is_label_set,
        case
            when policies.mapping is not null then list_max(map_values(policies.mapping))
            when graders.is_on_judgments_scale then collections.max_relevance
            when coalesce(policies.rule, 'best') in ('best', 'mth_best') then graders.scale_max
        end as top_label,
        list_max(
            cast(regexp_extract_all(rows_of_file.mapping, ':(-?\d{1,6})', 1) as integer[])
        ) as top_of_mapping,
        collections.max_relevance
    from rows_of_file
    left join {{ source('raw', 'collections') }} as collections using (collection)
    left join {{ ref('graders') }} as graders
        on graders.grader = coalesce(nullif(made_by['judge'], ''), made_by['grader'])
    left join {{ ref('int_label_policies') }} as policies on made_by['policy'] = policies.policy
)

select
    coalesce(hybrid, '(no name)') || ', ' || coalesce(collection, '(no collection)') as bad_row,
    case
        {{ name_is_wrong('hybrid', 'collection, hybrid') }}
        when not is_collection then 'the lake has no such collection'
        when not coalesce(has_judged, false)
            then 'no judgments of ' || coalesce(assessor, '(no assessor)') || ' in it'
        when not coalesce(is_label_set, false)
            then
                'label_set must be judge:NAME or GRADER/vN/POLICY, of a grader that has graded: '
                || coalesce(label_set, '(none)')
        {{ mapping_is_wrong() }}
        when mapping is null and coalesce(top_label, -1) != max_relevance
            then
                'labels of ' || label_set || ' go up to '
                || coalesce(cast(top_label as varchar), 'any number') || ', judgments to '
                || max_relevance || ': a mapping such as 5:3 4:1 must say which is which'
        when top_of_mapping > max_relevance
            then 'mapping goes beyond the judgments, which go up to ' || max_relevance
    end as problem
from scales
qualify problem is not null
