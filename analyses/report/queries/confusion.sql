-- How often each label meets each judgment; below 0 counts as 0
select
    label_set,
    greatest(label, 0) as label,
    greatest(judgment, 0) as judgment,
    cast(sum(n) as bigint) as n
from lake.marts.confusion
where collection = $collection and reference = $reference and not is_sampled
group by all
order by all
