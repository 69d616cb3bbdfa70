select
    collection,
    system,
    kind,
    source_file,
    file_sha256,
    n_rows,
    ingested_at
from {{ source('raw', 'systems') }}
