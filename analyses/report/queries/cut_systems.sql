-- Systems whose rankings came with graded passages, and hold no others
select
    system,
    cut_at
from lake.raw.systems
where
    collection = $collection
    and cut_at is not null
order by system
