-- What systems have in common, as gradelake.toml says: a judge may favour its own family.

-- key: collection, grouping, system
create table raw.system_groups (
    collection varchar not null,
    grouping varchar not null,               -- what they are sorted by, such as the model family
    group_name varchar not null,
    system varchar not null
);
