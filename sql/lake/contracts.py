"""What a row of each raw table must be, checked with pandera on the way in.

A check's `error` text is what a person reads when a row breaks it. Keys are named in `KEYS` and
checked here within a frame; importers replace whole targets, so nothing else can hold the key.
"""

from typing import Any

import pandera.polars as pa
import polars as pl

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
    "grades": [
        "grader_id",
        "collection",
        "query_id",
        "passage_id",
        "item_id",
        "passage_sha256",
        "query_sha256",
    ],
    "grade_reviews": [
        "grader_id",
        "collection",
        "query_id",
        "passage_id",
        "item_id",
        "passage_sha256",
        "query_sha256",
        "assessor",
    ],
    "grading_batches": ["batch_id"],
    "pipeline_runs": ["run_id"],
    "ledger": ["target"],
    "kept_releases": ["release"],
}

_FILLED = pa.Check.str_length(min_value=1, error="must not be empty")
_FINITE = pa.Check(
    lambda data: data.lazyframe.select(pl.col(data.key).is_finite()),
    error="must be a finite number",
)
# trec_eval compares scores as 32-bit floats
_FINITE_FLOAT32 = pa.Check(
    lambda data: data.lazyframe.select(pl.col(data.key).cast(pl.Float32).is_finite()),
    error="must be finite as a 32-bit float",
)


def _text(**options: Any) -> pa.Column:
    return pa.Column(pl.String, _FILLED, **options)


def _optional(dtype: pl.DataType | type[pl.DataType]) -> pa.Column:
    """A column that is null where a frame lacks it."""
    return pa.Column(dtype, nullable=True, required=False)


def _one_of(*values: str) -> pa.Column:
    return pa.Column(pl.String, pa.Check.isin(values, error=f"must be one of {', '.join(values)}"))


def _whole(minimum: int | None = None) -> pa.Column:
    checks = [] if minimum is None else [pa.Check.ge(minimum, error=f"must be at least {minimum}")]
    return pa.Column(pl.Int64, checks, coerce=True)


_TIME = pl.Datetime("us")

_COLUMNS: dict[str, dict[str, pa.Column]] = {
    "collections": {
        "collection": _text(),
        "source": _text(),
        "min_relevant": _whole(),
        "max_relevance": _whole(),
        "default_pool_depth": _whole(1),
        "leave_out_near_duplicates": pa.Column(pl.Boolean),
        "ingested_at": pa.Column(_TIME),
    },
    "queries": {
        "collection": _text(),
        "query_id": _text(),
        "text": _text(),
        "description": _optional(pl.String),
        "narrative": _optional(pl.String),
    },
    "passages": {
        "collection": _text(),
        "passage_id": _text(),
        "text": _text(),
        "text_sha256": _text(),
        "doc_id": _optional(pl.String),
        "position": _optional(pl.Int64),
        "origin": _one_of("corpus", "response"),
    },
    "near_duplicates": {
        "collection": _text(),
        "passage_id": _text(),
        "canonical_passage_id": _text(),
    },
    "systems": {
        "collection": _text(),
        "system": _text(),
        "kind": _one_of("ranking", "generation"),
        "source_file": _text(),
        "file_sha256": _text(),
        "n_rows": _whole(1),
        "ingested_at": pa.Column(_TIME),
    },
    "run_entries": {
        "collection": _text(),
        "system": _text(),
        "query_id": _text(),
        "passage_id": _text(),
        "rank": _optional(pl.Int32),
        "score": pa.Column(pl.Float64, _FINITE_FLOAT32),
    },
    "citations": {
        "collection": _text(),
        "system": _text(),
        "query_id": _text(),
        "passage_id": _text(),
        "sentence": _whole(1),
        "cited_passage_id": _text(),
        "confidence": _optional(pl.Float64),
    },
    "judgments": {
        "collection": _text(),
        "assessor": _text(),
        "query_id": _text(),
        "passage_id": _text(),
        "relevance": _whole(),
    },
    "review_samples": {
        "collection": _text(),
        "assessor": _text(),
        "sample": _text(),
        "label_set": _text(),
        "unit": _one_of("query", "pair"),
        "query_id": _text(),
        "passage_id": _text(),
        "stratum": _text(),
        "stratum_size": _whole(1),
        "probability": pa.Column(
            pl.Float64, pa.Check.in_range(0, 1, include_min=False, error="must be in (0, 1]")
        ),
        "depth": _optional(pl.Int64),
    },
    "official_ranks": {
        "collection": _text(),
        "leaderboard": _text(),
        "system": _text(),
        "rank": pa.Column(pl.Float64, [_FINITE, pa.Check.ge(1, error="must be at least 1")]),
        "score": _optional(pl.Float64),
    },
    "system_groups": {
        "collection": _text(),
        "grouping": _text(),
        "group_name": _text(),
        "system": _text(),
    },
    "rubric_items": {
        "collection": _text(),
        "bank": _text(),
        "query_id": _text(),
        "facet_id": pa.Column(pl.String),
        "item_id": _text(),
        "kind": _one_of("question", "nugget"),
        "text": _text(),
        "gold_answers": pa.Column(pl.List(pl.String), nullable=True),
        "weight": pa.Column(pl.Float64, [_FINITE, pa.Check.ge(0, error="must not be negative")]),
        "origin": _one_of("generated", "manual", "imported"),
        "created_at": pa.Column(_TIME),
    },
    "label_rubrics": {
        "rubric_id": _text(),
        "name": _text(),
        "collection": _text(),
        "assessor": _text(),
        "grader_id": _text(),
        "engine": _text(),
        "model": pa.Column(pl.String),
        "distil_prompt": _text(),
        "distil_prompt_sha256": _text(),
        "seed": _whole(),
        "iteration": _whole(1),
        "label": _whole(0),
        "text": _text(),
        "n_explanations": _whole(1),
        "created_at": pa.Column(_TIME),
    },
    "label_rubric_pairs": {
        "rubric_id": _text(),
        "collection": _text(),
        "query_id": _text(),
        "passage_id": _text(),
        "label": _whole(0),
        "explanation": _optional(pl.String),
    },
    "graders": {
        "grader_id": _text(),
        "name": _text(),
        "engine": _text(),
        "model": pa.Column(pl.String),
        "model_revision": pa.Column(pl.String),
        "target": _one_of(
            "question", "nugget", "direct", "extract", "verify", "generate", "explain"
        ),
        "prompt": pa.Column(pl.String),
        "prompt_sha256": pa.Column(pl.String),
        "prompt_text": _optional(pl.String),
        "scale_min": _whole(),
        "scale_max": _whole(),
        "settings": _text(),
        "parser": _text(),
        "created_at": pa.Column(_TIME),
        "label_rubric_id": pa.Column(pl.String, nullable=True, required=False, coerce=True),
    },
    "grades": {
        "grader_id": _text(),
        "collection": _text(),
        "query_id": _text(),
        "passage_id": _text(),
        "item_id": pa.Column(pl.String),
        "grade": _optional(pl.Int64),
        "status": _one_of("ok", "unanswerable", "defaulted", "failed"),
        "answer": _optional(pl.String),
        "response": _optional(pl.String),
        "expected_grade": _optional(pl.Float64),
        "prompt_tokens": _optional(pl.Int64),
        "cached_tokens": _optional(pl.Int64),
        "completion_tokens": _optional(pl.Int64),
        "batch_id": _text(),
        "graded_at": pa.Column(_TIME),
        "passage_sha256": _optional(pl.String),
        "query_sha256": _optional(pl.String),
        "scale_mass": _optional(pl.Float64),
        "cut_characters": _optional(pl.Int64),
        "error": _optional(pl.String),
    },
    "grade_reviews": {
        "grader_id": _text(),
        "collection": _text(),
        "query_id": _text(),
        "passage_id": _text(),
        "item_id": _text(),
        "passage_sha256": _optional(pl.String),
        "query_sha256": _optional(pl.String),
        "assessor": _text(),
        "grade": _whole(),
        "verdict": _one_of("agree", "disagree"),
        "own_grade": _optional(pl.Int64),
        "note": _optional(pl.String),
        "reviewed_at": pa.Column(_TIME),
    },
    "grading_batches": {
        "batch_id": _text(),
        "grader_id": _text(),
        "collection": _text(),
        "planned": _whole(0),
        "ok": _whole(0),
        "unanswerable": _whole(0),
        "defaulted": _whole(0),
        "failed": _whole(0),
        "reused": _whole(0),
        "tokens": _whole(0),
        "cached_tokens": _whole(0),
        "wall_seconds": pa.Column(pl.Float64, pa.Check.ge(0, error="must not be negative")),
        "started_at": pa.Column(_TIME),
        "finished_at": _optional(_TIME),
        "state": _one_of("running", "done", "stopped", "failed"),
    },
    "pipeline_runs": {
        "run_id": _text(),
        "command": _text(),
        "arguments": _text(),
        "state": _one_of("running", "done", "failed"),
        "counts": _text(),
        "error": _optional(pl.String),
        "started_at": pa.Column(_TIME),
        "finished_at": _optional(_TIME),
    },
    "ledger": {
        "target": _text(),
        "sha256": _text(),
        "n_rows": _whole(0),
        "run_id": _text(),
        "committed_at": pa.Column(_TIME),
    },
    "kept_releases": {"release": _text(), "kept_by": _text(), "kept_at": pa.Column(_TIME)},
}

CONTRACTS: dict[str, pa.DataFrameSchema] = {
    table: pa.DataFrameSchema(columns, unique=KEYS[table] or None, strict=True, name=table)
    for table, columns in _COLUMNS.items()
}


def types_of(table: str, *columns: str) -> dict[str, pl.DataType]:
    """These columns of a raw table with their types, for a frame of its rows."""
    types = CONTRACTS[table].dtypes
    return {column: types[column].type for column in columns}
