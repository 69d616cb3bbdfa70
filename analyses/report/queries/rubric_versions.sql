-- The versions of the rubric, and what was done in each
select
    versions.rubric_version,
    versions.is_newest,
    count(*) as n_items,
    count(*) filter (items.action is not null) as n_edited
from lake.marts.rubric_versions as versions
inner join lake.marts.rubric_items_effective as items
    on versions.collection = items.collection and versions.rubric_version = items.rubric_version
where versions.collection = $collection
group by all
order by versions.rubric_version
