-- Systems with one run, byte for byte
select
    system,
    same_as
from lake.intermediate.int_same_runs
where collection = $collection
order by system
