-- What systems answered, whole and by sentence. A response is cut into passages for the rankings;
-- nuggets are looked for in the whole of it, and citations support its sentences.

-- key: collection, system, query_id
create table raw.answers (
    collection varchar not null,
    system varchar not null,
    query_id varchar not null,
    -- of the whole response; where it was cut, of a passage with the origin 'answer', in no ranking
    passage_id varchar not null
);

-- key: collection, system, query_id, sentence
create table raw.sentences (
    collection varchar not null,
    system varchar not null,
    query_id varchar not null,
    sentence integer not null,               -- 1-based, as raw.citations has it
    item_id varchar not null,                -- query_id/md5 of the text
    text varchar not null
);

-- what people say of how far a cited passage supports a sentence
-- key: collection, assessor, query_id, item_id, cited_passage_id
create table raw.support_judgments (
    collection varchar not null,
    assessor varchar not null,
    query_id varchar not null,
    item_id varchar not null,                -- of the sentence: as in raw.sentences
    cited_passage_id varchar not null,
    support integer not null                 -- 0: none, 1: partial, 2: full
);

-- which of its sentence's citations, 1-based; null in what was ingested before
alter table raw.citations add column citation integer;

-- What was ingested before: a response is known whole where it is one passage. One of more than 200
-- tokens may have been that passage twice, which its ranking has once: it is not taken.
insert into raw.answers by name
select
    entries.collection,
    entries.system,
    entries.query_id,
    min(entries.passage_id) as passage_id
from raw.run_entries as entries
inner join raw.systems as systems
    on entries.collection = systems.collection and entries.system = systems.system
inner join raw.passages as passages
    on
        entries.collection = passages.collection
        and entries.passage_id = passages.passage_id
where systems.kind = 'generation'
group by all
having
    count(*) = 1
    and max(len(regexp_extract_all(passages.text, '[A-Za-z0-9_]+|[^A-Za-z0-9_\s]'))) <= 200;

-- The files that hold the others, and the sentences, are read at the next ingest, though they did
-- not change.
delete from raw.ledger
where contains(target, '/responses/');

-- The views that grading begins with say what is asked of answers, too; it makes them anew.
drop view if exists marts.wanted_grades;
drop view if exists marts.wanted_items;
