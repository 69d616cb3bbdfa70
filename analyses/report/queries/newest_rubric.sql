-- The newest version of the rubric
select rubric_version
from lake.marts.rubric_versions
where collection = $collection and is_newest
