alter table raw.rubric_items add column place bigint;
alter table raw.brought_along add column place bigint;
alter table raw.systems add column cut_at bigint;
-- what was noted of a bank's items stood beside what was noted of their line
update raw.brought_along
set
    content = json_object(
        'line', json_merge_patch(brought_along.content::json, '{"items": null}'::json),
        'given', coalesce(
            (
                select json_group_array(json_array(found.key, found.value))
                from json_each(brought_along.content::json, '$.items') as found
            ),
            '[]'::json
        )
    )
where contains(target, '/bank/');
