-- Two systems with one run: as a rule a file that was copied, or handed in twice.
select
    runs.collection,
    runs.system,
    string_agg(twins.system, ', ' order by twins.system) as same_as
from {{ source('raw', 'systems') }} as runs
inner join {{ source('raw', 'systems') }} as twins using (collection, file_sha256)
where
    runs.kind = 'ranking'
    and twins.kind = 'ranking'
    -- of a table that holds several systems, each has the file's hash
    and runs.source_file != twins.source_file
group by runs.collection, runs.system
