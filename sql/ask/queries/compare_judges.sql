-- Which judge agrees best with people, on the pairs that all of them labelled?
-- :collection
-- :least_labelled = 0          percentage of what people judged that a judge labelled, at least
with

-- judges, and the newest rubric's label sets; people are the reference
judges as (
    select
        completeness.*,
        usual_levels.level,
        collections.min_relevant,
        count(*) over (partition by completeness.collection) as n_judges
    from marts.label_completeness as completeness
    inner join marts.label_sets as label_sets using (collection, label_set)
    inner join marts.usual_levels using (collection, label_set)
    inner join raw.collections as collections using (collection)
    left join marts.rubric_versions as versions using (collection, rubric_version)
    where
        label_sets.kind in ('judge', 'rubric')
        and coalesce(versions.is_newest, true)
        and completeness.n_labelled > 0
        and 100 * completeness.labelled_share >= cast($least_labelled as integer)
        and $asked_of_completeness
),

pairs as (
    select
        judges.collection,
        judges.label_set,
        judges.n_judges,
        labels.label >= judges.level as is_label,
        judgments.label >= judges.min_relevant as is_reference,
        count(*) over (
            partition by judges.collection, labels.query_id, labels.passage_id
        ) as n_labelling,
        -- what a judge's label rubrics were distilled from says nothing about its agreement
        bool_or(sampled.passage_id is not null) over (
            partition by judges.collection, labels.query_id, labels.passage_id
        ) as is_sampled
    from marts.relevance_labels as labels
    inner join judges using (collection, label_set)
    inner join marts.relevance_labels as judgments using (collection, query_id, passage_id)
    left join marts.sampled_pairs as sampled
        on
            judges.collection = sampled.collection
            and judges.label_set = sampled.label_set
            and labels.query_id = sampled.query_id
            and labels.passage_id = sampled.passage_id
    where judges.reference = judgments.label_set
),

common as (
    select
        collection,
        label_set,
        count(*) as n_pairs,
        count(*) filter (where is_label and is_reference) as n_both,
        count(*) filter (where is_label and not is_reference) as n_label_only,
        count(*) filter (where is_reference and not is_label) as n_reference_only,
        count(*) filter (where not is_label and not is_reference) as n_neither
    from pairs
    where n_labelling = n_judges and not is_sampled
    group by all
)

select
    judges.collection,
    judges.reference,
    judges.label_set,
    judges.level,
    coalesce(common.n_pairs, 0) as n_pairs,
    -- Cohen's (1960); null when one class only occurs
    2 * (common.n_both * common.n_neither - common.n_label_only * common.n_reference_only)
    / nullif(
        (common.n_both + common.n_label_only) * (common.n_label_only + common.n_neither)
        + (common.n_both + common.n_reference_only)
        * (common.n_reference_only + common.n_neither),
        0
    ) as kappa,
    own.n as n_own_pairs,
    own.kappa as kappa_of_own,
    judges.labelled_share,
    judges.is_incomplete
from judges
left join common using (collection, label_set)
left join marts.kappa as own
    on
        judges.collection = own.collection
        and judges.label_set = own.label_set
        and judges.reference = own.reference
        and own.kind = 'binary'
        and judges.level = own.label_cut
        and judges.min_relevant = own.reference_cut
        and not own.is_sampled
order by
    judges.collection asc,
    kappa desc nulls last,
    judges.label_set asc
