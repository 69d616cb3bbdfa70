-- Which grades were imported, and from which file?
-- :collection :grader
-- Where is_on_its_word, only the file itself says that one of your graders gave them.
select
    collection,
    grader,
    source,
    is_on_its_word,
    n_grades,
    imported_at
from marts.imported_grades
where $asked_of_imported_grades
order by
    imported_at desc,
    collection asc,
    grader asc
