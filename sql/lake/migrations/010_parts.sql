-- Parts say of themselves what they were computed from.
drop table if exists intermediate.built_parts;
drop table if exists intermediate.int_item_ranks;
drop table if exists intermediate.int_label_set_inputs;
drop table if exists intermediate.int_rubric_inputs;
