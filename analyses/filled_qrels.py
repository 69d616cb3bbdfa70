"""`gradelake export qrels --fill-holes`: one label set, and a judge's labels where it has none."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from gradelake.analyses.qrels_export import (
    label_sets,
    require_columns,
    require_label_set,
    write_lines,
)
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.connection import execute
from gradelake.sql.lake.opening import Lake

FILLED = """
    create or replace temp table filled as
    with
    given as (
        select query_id, passage_id, label from lake.marts.relevance_labels
        where collection = $1 and label_set = $2
    ),
    fill as (
        select
            query_id,
            passage_id,
            case
                when $4 then coalesce(map($5::integer[], $6::integer[])[label], 0)
                else label
            end as label
        from lake.marts.relevance_labels
        where collection = $1 and label_set = $3
    )
    select
        query_id,
        if(given.label is null, $3, '0') as source,
        passage_id,
        coalesce(given.label, fill.label) as label
    from given
    full join fill using (query_id, passage_id)
"""
# DuckDB compares strings bytewise
LINES = "select * from filled order by query_id, passage_id"
COUNTS = """
    select
        count(*) filter (source = '0'),
        count(*) filter (source != '0'),
        count(distinct query_id) - count(distinct query_id) filter (source = '0')
    from filled
"""
_PAIR = re.compile(r"\s*(-?[0-9]+)\s*:\s*(-?[0-9]+)\s*")


@dataclass(frozen=True)
class Filled:
    """How many labels came from where. `n_new_queries` have labels of `fill` only."""

    collection: str
    label_set: str
    fill: str
    output: Path | BinaryIO
    n_given: int
    n_filled: int
    n_new_queries: int

    def as_object(self) -> dict[str, Any]:
        written = {
            "label_set": self.label_set,
            "fill_holes": self.fill,
            "file": str(self.output),
            "labels": self.n_given,
            "filled": self.n_filled,
            "queries_of_fill_only": self.n_new_queries,
        }
        return {"collection": self.collection, "written": [written]}

    def show(self) -> None:
        """How many came from where; on standard error where the labels are on standard output."""
        is_file = isinstance(self.output, Path)
        (console.say if is_file else console.warn)(
            f"{self.output if is_file else 'standard output'}: wrote "
            f"{counted(self.n_given, 'labels')} of {self.label_set} "
            f"and {self.n_filled:,} of {self.fill}"
        )
        if self.n_new_queries:
            n_queries = counted(self.n_new_queries, "queries", "have")
            console.warn(f"note: {n_queries} labels of {self.fill} only")


def export_filled(
    lake: Lake,
    collection: str,
    label_set: str,
    fill: str,
    output: Path | BinaryIO,
    mapping: dict[int, int] | None = None,
) -> Filled:
    """Write the labels of `label_set`, and those of `fill` for pairs that it does not have.

    Lines are `query_id SOURCE passage_id label`, sorted as `export_label_set` does; SOURCE is `0`
    where the label is of the first set, else the name of the other, whose labels go through
    `mapping` if there is one (a label that it does not name becomes 0). Raises `BadInput` for what
    `export_label_set` refuses, and, without a mapping, for scales with different ends.
    """
    with lake.one_state():
        for name in (label_set, fill):
            require_label_set(lake, collection, name)
        if label_set == fill:
            raise BadInput(
                f"--fill-holes: {fill!r} is the label set itself",
                "Name another: " + ", ".join(n for n in label_sets(lake, collection) if n != fill),
            )
        _check_scales(lake, collection, label_set, fill, mapping)
        require_columns(lake, collection, [label_set, fill])
        pairs = mapping or {}
        parameters = [collection, label_set, fill, mapping is not None, [*pairs], [*pairs.values()]]
        execute(lake.connection, FILLED, parameters)
        write_lines(lake, output, LINES)
        return Filled(collection, label_set, fill, output, *lake.rows(COUNTS)[0])


def read_mapping(text: str) -> dict[int, int]:
    """`5:3,4:1` -> {5: 3, 4: 1}; white space separates as well. Raises `BadInput`."""
    mapping: dict[int, int] = {}
    for pair in filter(None, re.split(r",|(?<=[0-9])\s+(?=-?[0-9]+\s*:)", text.strip())):
        found = _PAIR.fullmatch(pair)
        if not found or int(found[1]) in mapping:
            raise BadInput(
                f"--map {text}: {pair.strip()!r} is not a new LABEL:LABEL",
                "Write for example --map 5:3,4:1; labels that are not named become 0.",
            )
        mapping[int(found[1])] = int(found[2])
    if not mapping:
        raise BadInput("--map: it names no label", "Write for example --map 5:3,4:1.")
    return mapping


def _check_scales(
    lake: Lake, collection: str, label_set: str, fill: str, mapping: dict[int, int] | None
) -> None:
    """Labels of two scales in one file would mean two things."""
    rows = lake.rows(
        "select label_set, max_label from lake.marts.label_sets where collection = ?", collection
    )
    tops: dict[str, int] = dict(rows)
    top, top_of_fill = tops[label_set], tops[fill]
    if mapping is None and top != top_of_fill:
        raise BadInput(
            f"the scales differ: {label_set} is 0-{top}, {fill} is 0-{top_of_fill}",
            f"Say what the labels of {fill} are on the other scale, for example --map "
            f"{top_of_fill}:{top}; labels that are not named become 0."
            + (
                " Better: a label policy with a mapping (seeds/label_policies.csv), whose labels "
                "the leaderboards also show."
                if "/" in fill
                else ""
            ),
        )
    for label, mapped in (mapping or {}).items():
        if not 0 <= mapped <= top:
            raise BadInput(
                f"--map {label}:{mapped}: {mapped} is off the scale of {label_set}, 0-{top}"
            )
        if label > top_of_fill:
            raise BadInput(
                f"--map {label}:{mapped}: {label} is off the scale of {fill}, 0-{top_of_fill}"
            )
