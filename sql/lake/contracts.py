"""What a row of each raw table must be, checked with pandera on the way in.

A check's `error` text is what a person reads when a row breaks it. Keys (`keys.KEYS`) are
checked here within a frame; importers replace whole targets, so nothing else can hold the key.
"""

import pandera.polars as pa
import polars as pl

from gradelake.sql.lake.keys import KEYS

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

_Columns = dict[str, pa.Column]


def _texts(*names: str, may_be_empty: bool = False) -> _Columns:
    return {name: pa.Column(pl.String, [] if may_be_empty else _FILLED) for name in names}


def _optional(dtype: pl.DataType | type[pl.DataType], *names: str) -> _Columns:
    """Columns that are null where a frame lacks them."""
    return {name: pa.Column(dtype, nullable=True, required=False) for name in names}


def _whole(*names: str, minimum: int | None = None) -> _Columns:
    checks = [] if minimum is None else [pa.Check.ge(minimum, error=f"must be at least {minimum}")]
    return {name: pa.Column(pl.Int64, checks, coerce=True) for name in names}


def _times(*names: str) -> _Columns:
    return {name: pa.Column(pl.Datetime("us")) for name in names}


def _one_of(*values: str) -> pa.Column:
    return pa.Column(pl.String, pa.Check.isin(values, error=f"must be one of {', '.join(values)}"))


_COLUMNS: dict[str, _Columns] = {
    "collections": {
        **_texts("collection", "source"),
        **_whole("min_relevant", "max_relevance"),
        **_whole("default_pool_depth", minimum=1),
        "leave_out_near_duplicates": pa.Column(pl.Boolean),
        **_times("ingested_at"),
    },
    "queries": {
        **_texts("collection", "query_id", "text"),
        **_optional(pl.String, "description", "narrative"),
    },
    "facets": _texts("collection", "query_id", "facet_id", "text"),
    "passages": {
        **_texts("collection", "passage_id", "text", "text_sha256"),
        **_optional(pl.String, "doc_id"),
        **_optional(pl.Int64, "position"),
        "origin": _one_of("corpus", "response", "answer"),
    },
    "near_duplicates": _texts("collection", "passage_id", "canonical_passage_id"),
    "systems": {
        **_texts("collection", "system"),
        "kind": _one_of("ranking", "generation"),
        **_texts("source_file", "file_sha256"),
        **_whole("n_rows", minimum=1),
        **_times("ingested_at"),
    },
    "run_entries": {
        **_texts("collection", "system", "query_id", "passage_id"),
        **_optional(pl.Int32, "rank"),
        "score": pa.Column(pl.Float64, _FINITE_FLOAT32),
    },
    "citations": {
        **_texts("collection", "system", "query_id", "passage_id"),
        **_whole("sentence", minimum=1),
        **_texts("cited_passage_id"),
        **_optional(pl.Float64, "confidence"),
        **_optional(pl.Int32, "citation"),
    },
    "answers": _texts("collection", "system", "query_id", "passage_id"),
    "sentences": {
        **_texts("collection", "system", "query_id"),
        **_whole("sentence", minimum=1),
        **_texts("item_id", "text"),
    },
    "support_judgments": {
        **_texts("collection", "assessor", "query_id", "item_id", "cited_passage_id"),
        "support": pa.Column(pl.Int32, pa.Check.isin([0, 1, 2])),
    },
    "judgments": {
        **_texts("collection", "assessor", "query_id", "passage_id"),
        **_whole("relevance"),
    },
    "review_samples": {
        **_texts("collection", "assessor", "sample", "label_set"),
        "unit": _one_of("query", "pair"),
        **_texts("query_id", "passage_id", "stratum"),
        **_whole("stratum_size", minimum=1),
        "probability": pa.Column(
            pl.Float64, pa.Check.in_range(0, 1, include_min=False, error="must be in (0, 1]")
        ),
        **_optional(pl.Int64, "depth"),
    },
    "official_ranks": {
        **_texts("collection", "leaderboard", "system"),
        "rank": pa.Column(pl.Float64, [_FINITE, pa.Check.ge(1, error="must be at least 1")]),
        **_optional(pl.Float64, "score"),
    },
    "system_groups": _texts("collection", "grouping", "group_name", "system"),
    "rubric_items": {
        **_texts("collection", "bank", "query_id"),
        **_texts("facet_id", may_be_empty=True),
        **_texts("item_id"),
        "kind": _one_of("question", "nugget"),
        **_texts("text"),
        **_optional(pl.List(pl.String), "gold_answers"),
        "weight": pa.Column(pl.Float64, [_FINITE, pa.Check.ge(0, error="must not be negative")]),
        "origin": _one_of("generated", "manual", "imported"),
        **_times("created_at"),
    },
    "label_rubrics": {
        **_texts("rubric_id", "name", "collection", "assessor", "grader_id", "engine"),
        **_texts("model", may_be_empty=True),
        **_texts("distil_prompt", "distil_prompt_sha256"),
        **_whole("seed"),
        **_whole("iteration", minimum=1),
        **_whole("label", minimum=0),
        **_texts("text"),
        **_whole("n_explanations", minimum=1),
        **_times("created_at"),
    },
    "label_rubric_pairs": {
        **_texts("rubric_id", "collection", "query_id", "passage_id"),
        **_whole("label", minimum=0),
        **_optional(pl.String, "explanation"),
    },
    "graders": {
        **_texts("grader_id", "name", "engine"),
        **_texts("model", "model_revision", may_be_empty=True),
        "target": _one_of(
            *("question", "nugget", "direct", "extract", "verify", "assign", "support"),
            *("generate", "explain"),
        ),
        **_texts("prompt", "prompt_sha256", may_be_empty=True),
        **_optional(pl.String, "prompt_text"),
        **_whole("scale_min", "scale_max"),
        **_texts("settings", "parser"),
        **_times("created_at"),
        **_optional(pl.String, "label_rubric_id"),
    },
    "grades": {
        **_texts("grader_id", "collection", "query_id", "passage_id"),
        **_texts("item_id", may_be_empty=True),
        **_optional(pl.Int64, "grade"),
        "status": _one_of("ok", "unanswerable", "defaulted", "failed"),
        **_optional(pl.String, "answer", "response"),
        **_optional(pl.Float64, "expected_grade"),
        **_optional(pl.Int64, "prompt_tokens", "cached_tokens", "completion_tokens"),
        **_texts("batch_id"),
        **_times("graded_at"),
        **_optional(pl.String, "passage_sha256", "query_sha256"),
        **_optional(pl.Float64, "scale_mass"),
        **_optional(pl.Int64, "cut_characters"),
        **_optional(pl.String, "error", "gold_sha256"),
    },
    "grade_reviews": {
        **_texts("grader_id", may_be_empty=True),
        **_texts("collection", "query_id", "passage_id"),
        **_texts("item_id", may_be_empty=True),
        **_optional(pl.String, "passage_sha256", "query_sha256"),
        **_texts("assessor"),
        **_whole("grade"),
        "verdict": _one_of("agree", "disagree"),
        **_optional(pl.Int64, "own_grade"),
        **_optional(pl.String, "note"),
        **_times("reviewed_at"),
        **_optional(pl.Int64, "blind_grade"),
        **_optional(pl.Float64, "seconds"),
        **_optional(pl.Boolean, "settles"),
    },
    "review_queues": {
        **_texts("collection", "queue"),
        **_texts("grader_id", may_be_empty=True),
        **_texts("source"),
        **_whole("tau"),
        **_whole("overlap", minimum=1),
        **_whole("seed"),
        **_times("made_at"),
        **_optional(pl.String, "label_set"),
        **_optional(pl.List(pl.String), "label_names"),
    },
    "review_cards": {
        **_texts("collection", "queue"),
        **_whole("position", minimum=1),
        **_texts("query_id", "passage_id"),
        **_texts("item_id", may_be_empty=True),
        **_optional(pl.String, "passage_sha256", "query_sha256"),
        **_texts("grader_id", may_be_empty=True),
        **_texts("assessor"),
    },
    "sentinels": {
        **_texts("collection", "sentinel", "assessor"),
        **_whole("rounds_per_false_alarm", minimum=1),
        **_times("drawn_at"),
    },
    "sentinel_pairs": {
        **_texts("collection", "sentinel", "query_id", "passage_id"),
        **_texts("item_id", may_be_empty=True),
        "kind": _one_of("passage", "question", "nugget"),
        **_whole("judgment", minimum=0),
        **_texts("query", "passage"),
        **_texts("item", may_be_empty=True),
    },
    "grading_batches": {
        **_texts("batch_id", "grader_id", "collection"),
        **_whole("planned", "ok", "unanswerable", "defaulted", "failed", "reused", minimum=0),
        **_whole("tokens", "cached_tokens", minimum=0),
        "wall_seconds": pa.Column(pl.Float64, pa.Check.ge(0, error="must not be negative")),
        **_times("started_at"),
        **_optional(pl.Datetime("us"), "finished_at"),
        "state": _one_of("running", "done", "stopped", "failed"),
        **_optional(pl.List(pl.String), "notes"),
    },
    "submissions": {
        **_texts("submission_id", "grader_id", "collection", "base_url"),
        **_optional(pl.String, "provider_id"),
        **_whole("n_pairs", "n_prompts", minimum=1),
        **_optional(pl.Float64, "reserved"),
        "state": _one_of(
            *("intended", "submitted", "collected", "expired", "cancelled", "failed", "withdrawn")
        ),
        **_optional(pl.String, "reason"),
        **_times("began_at"),
        **_optional(pl.Datetime("us"), "finished_at"),
    },
    "submitted_pairs": {
        **_texts("submission_id"),
        **_whole("prompt_no", minimum=0),
        "is_leader": pa.Column(pl.Boolean),
        **_texts("query_id", "passage_id"),
        **_texts("item_id", may_be_empty=True),
        **_texts("passage_sha256"),
        **_optional(pl.String, "query_sha256", "gold_sha256"),
        **_optional(pl.List(pl.String), "gold_answers"),
        **_whole("passage_characters", "cut_characters", minimum=0),
        **_optional(pl.String, "error"),
        **_optional(pl.Int64, "most_characters"),
        **_optional(pl.Int64, "prompt_tokens", "cached_tokens", "completion_tokens"),
    },
    "pipeline_runs": {
        **_texts("run_id", "command", "arguments"),
        "state": _one_of("running", "done", "failed"),
        **_texts("counts"),
        **_optional(pl.String, "error"),
        **_times("started_at"),
        **_optional(pl.Datetime("us"), "finished_at"),
    },
    "ledger": {
        **_texts("target", "sha256"),
        **_whole("n_rows", minimum=0),
        **_texts("run_id"),
        **_times("committed_at"),
    },
    "brought_along": _texts("collection", "target", "query_id", "part", "content"),
    "kept_releases": {**_texts("release", "kept_by"), **_times("kept_at")},
}

_COLUMNS["sentinel_grades"] = {
    **_texts("sentinel"),
    **_whole("round", minimum=1),
    **{name: column for name, column in _COLUMNS["grades"].items() if not name.endswith("_sha256")},
}

CONTRACTS: dict[str, pa.DataFrameSchema] = {
    table: pa.DataFrameSchema(columns, unique=KEYS[table] or None, strict=True, name=table)
    for table, columns in _COLUMNS.items()
}
