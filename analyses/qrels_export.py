"""`gradelake export qrels`: a label set as TREC qrels, which every evaluation tool reads."""

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import TO_LABEL, did_you_mean
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.connection import execute
from gradelake.sql.lake.opening import Lake

# DuckDB compares strings bytewise
LABELS = """
    select query_id, '0' as source, passage_id, label
    from lake.marts.relevance_labels
    where collection = ? and label_set = ?
    order by query_id, passage_id
"""
# readers of qrels take a line apart at white space, that of Unicode too
UNWRITABLE = r"""
    select query_id, passage_id
    from lake.marts.relevance_labels
    where
        collection = $1
        and label_set in (select unnest($2))
        and (
            query_id = ''
            or passage_id = ''
            or regexp_matches(query_id || passage_id, '[\s\pZ\x{0b}\x{1c}-\x{1f}\x{85}]')
        )
    order by query_id, passage_id
    limit 1
"""
LINES_AT_ONCE = 100_000


def export_label_set(lake: Lake, collection: str, label_set: str, output: Path | BinaryIO) -> int:
    """Write one label set to a file, or to an open stream; returns the number of labels.

    Lines are `query_id 0 passage_id label`, sorted by query id, then passage id, bytewise; labels
    are those of `relevance_labels`, negative ones too. Raises `BadInput` for an unknown collection
    or label set, an id that cannot stand in a column, and a file that cannot be written.
    """
    with lake.one_state():
        require_label_set(lake, collection, label_set)
        require_columns(lake, collection, [label_set])
        return write_lines(lake, output, LABELS, collection, label_set)


def export_all(lake: Lake, collection: str, folder: Path) -> dict[str, tuple[Path, int]]:
    """Write every label set to a file of its own; returns label set -> (file, number of labels).

    Files are named after their label set, each `/` and `:` of it a `.`, and end in `.qrels`. Call
    it within `one_state`. Raises `BadInput` as `export_label_set` does, before anything is written.
    """
    known = label_sets(lake, collection)
    files = {name: folder / f"{re.sub('[/:]', '.', name)}.qrels" for name in known}
    for label_set, file in files.items():
        twins = [other for other in known if files[other] == file and other != label_set]
        if twins:
            raise BadInput(
                f"label sets {label_set!r} and {twins[0]!r} would both be {file.name}",
                "Export them one by one: --label-set NAME --output FILE.",
            )
    require_columns(lake, collection, known)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be made: {error.strerror or error}") from error
    return {
        name: (file, write_lines(lake, file, LABELS, collection, name))
        for name, file in files.items()
    }


def label_sets(lake: Lake, collection: str) -> list[str]:
    """Names of a collection's label sets. Raises `BadInput` when there is none."""
    names = lake.column(
        "select distinct label_set from lake.marts.relevance_labels where collection = ? "
        "order by label_set",
        collection,
    )
    if not names:
        lake.require_collection(collection)
        raise BadInput(f"{collection!r} has no labels here", TO_LABEL)
    return names


def require_label_set(lake: Lake, collection: str, label_set: str) -> None:
    """Raise `BadInput` for an unknown collection or label set."""
    known = label_sets(lake, collection)
    if label_set not in known:
        hint = did_you_mean(label_set, known)
        if lake.release is not None:
            hint += " With --live, what was built since the release is read as well."
        raise BadInput(f"{collection!r} has no label set {label_set!r} here", hint)


def require_columns(lake: Lake, collection: str, names: list[str]) -> None:
    """Raise `BadInput` for an id that readers of qrels would take apart, or not see."""
    for ids in lake.rows(UNWRITABLE, collection, names):
        bad = next(bad for bad in ids if not bad or any(map(str.isspace, bad)))
        kind = "query" if bad == ids[0] else "passage"
        raise BadInput(
            f"{kind} id {bad!r} cannot stand in TREC qrels: white space ends their columns",
            "Read relevance_labels instead, for example: gradelake sql --format csv "
            '"select * from relevance_labels"',
        )


def write_lines(lake: Lake, output: Path | BinaryIO, query: str, *parameters: Any) -> int:
    """Write the rows of a query as lines; returns how many."""
    n_lines = 0
    with whole_file(output) if isinstance(output, Path) else nullcontext(output) as stream:
        result = execute(lake.connection, query, parameters)
        while rows := result.fetchmany(LINES_AT_ONCE):
            stream.write("".join(f"{' '.join(map(str, row))}\n" for row in rows).encode())
            n_lines += len(rows)
    return n_lines
