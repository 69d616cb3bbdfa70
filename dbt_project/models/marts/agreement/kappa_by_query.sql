{{ agreement_by(['collection', 'label_set', 'reference', 'is_sampled', 'query_id']) }}
