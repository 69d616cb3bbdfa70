-- Each value of a label set beside the one that an assessor's judgments give, at their usual level.
select
    label_pairs.collection,
    label_pairs.label_set,
    label_pairs.reference,
    label_pairs.assessor,
    one.level,
    other.level as reference_level,
    one.measure,
    one.query_id,
    one.system,
    one.value,
    other.value as human_value
{{ compared(ref('topic_scores'), ['system', 'query_id', 'measure']) }}
where label_pairs.assessor is not null
