"""What a row of each raw table is: its key, its columns' types, its contract.

Contracts are imported when the first is asked for: pandera takes a second, and who finds nothing
new checks nothing.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandera.polars as pa
    import polars as pl

_PAIR = ["collection", "query_id", "passage_id"]
_GRADE = ["grader_id", *_PAIR, "item_id", "passage_sha256", "query_sha256"]

# table -> the columns that make a row unique (none: repeats are meaningful)
KEYS: dict[str, list[str]] = {
    "collections": ["collection"],
    "queries": ["collection", "query_id"],
    "passages": ["collection", "passage_id"],
    "near_duplicates": ["collection", "passage_id"],
    "systems": ["collection", "system"],
    "run_entries": ["collection", "system", "query_id", "passage_id"],
    "citations": [],
    "judgments": ["collection", "assessor", "query_id", "passage_id"],
    "review_samples": ["collection", "assessor", "sample", "query_id", "passage_id"],
    "official_ranks": ["collection", "leaderboard", "system"],
    "system_groups": ["collection", "grouping", "system"],
    "rubric_items": ["collection", "bank", "query_id", "facet_id", "item_id"],
    "label_rubrics": ["rubric_id", "iteration", "label"],
    "label_rubric_pairs": ["rubric_id", "query_id", "passage_id"],
    "graders": ["grader_id"],
    "grades": _GRADE,
    "grade_reviews": [*_GRADE, "assessor"],
    "grading_batches": ["batch_id"],
    "pipeline_runs": ["run_id"],
    "ledger": ["target"],
    "kept_releases": ["release"],
}


def contract(table: str) -> "pa.DataFrameSchema":
    """What each row of a raw table must be."""
    from gradelake.sql.lake.contracts import CONTRACTS

    return CONTRACTS[table]


def types_of(table: str, *columns: str) -> "dict[str, pl.DataType]":
    """These columns of a raw table with their types, for a frame of its rows."""
    types = contract(table).dtypes
    return {column: types[column].type for column in columns}
