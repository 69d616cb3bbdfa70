-- How far behind is each collection: last input, last grades, last release, missing grades?
-- :collection
-- Reads the working catalog, as with --live: a release cannot know what came after it.
select
    collection,
    last_input_at,
    last_graded_at,
    n_missing,
    needs_build,
    last_release,
    last_released_at
from marts.freshness
where $asked_of_freshness
order by collection asc
