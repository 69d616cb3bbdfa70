-- What is wrong in seeds/evaluation_citations.csv.
select
    coalesce(citations, '(empty)') as bad_row,
    case
        when coalesce(citations, '') not in ('first', 'every', 'track_first', 'track_every')
            then 'citations must be first, every, track_first or track_every'
        when count(*) over (partition by citations) > 1 then 'listed twice'
        when coalesce(missing, '') not in ('no_support', 'left_out')
            then 'missing must be no_support or left_out'
    end as problem
from {{ file_rows() }}
qualify problem is not null
