-- What files of others hold that no table has a column for: an export gives it back.

-- key: collection, target, query_id, part
create table raw.brought_along (
    collection varchar not null,
    target varchar not null,                 -- whose, as the ledger calls it: COLLECTION/bank/NAME
    query_id varchar not null,
    part varchar not null,                   -- a passage's id; of a bank KIND/FACET
    content varchar not null                 -- a JSON object
);
