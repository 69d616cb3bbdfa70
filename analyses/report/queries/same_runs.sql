-- Systems with one run, byte for byte
select
    system,
    same_as
from lake.marts.same_runs
where collection = $collection
order by system
