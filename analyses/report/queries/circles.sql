-- Systems whose generator, or judge in use, is of the family of the judge behind a label set
select
    label_set,
    list(system order by system) as systems
from lake.marts.judge_families
where
    collection = $collection
    and circle is not null
group by label_set
