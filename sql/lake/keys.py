"""What makes a row of each raw table unique."""

_PAIR = ["collection", "query_id", "passage_id"]
_GRADE = ["grader_id", *_PAIR, "item_id", "passage_sha256", "query_sha256"]

# table -> columns (none: repeats are meaningful)
KEYS: dict[str, list[str]] = {
    "collections": ["collection"],
    "queries": ["collection", "query_id"],
    "facets": ["collection", "query_id", "facet_id"],
    "passages": ["collection", "passage_id"],
    "near_duplicates": ["collection", "passage_id"],
    "systems": ["collection", "system"],
    "run_entries": ["collection", "system", "query_id", "passage_id"],
    "citations": [],
    "answers": ["collection", "system", "query_id"],
    "sentences": ["collection", "system", "query_id", "sentence"],
    "support_judgments": ["collection", "assessor", "query_id", "item_id", "cited_passage_id"],
    "judgments": ["collection", "assessor", "query_id", "passage_id"],
    "review_samples": ["collection", "assessor", "sample", "query_id", "passage_id"],
    "official_ranks": ["collection", "leaderboard", "system"],
    "system_groups": ["collection", "grouping", "system"],
    "rubric_items": ["collection", "bank", "query_id", "facet_id", "item_id"],
    "label_rubrics": ["rubric_id", "iteration", "label"],
    "label_rubric_pairs": ["rubric_id", "query_id", "passage_id"],
    "graders": ["grader_id"],
    "grades": [*_GRADE, "gold_sha256"],
    "grade_reviews": [*_GRADE, "assessor"],
    "review_queues": ["collection", "queue"],
    "review_cards": ["collection", "queue", "position", "assessor"],
    "sentinels": ["collection", "sentinel"],
    "sentinel_pairs": ["collection", "sentinel", "query_id", "passage_id", "item_id"],
    "sentinel_grades": ["sentinel", "grader_id", "round", *_PAIR, "item_id"],
    "grading_batches": ["batch_id"],
    "submissions": ["submission_id"],
    "submitted_pairs": ["submission_id", "query_id", "passage_id", "item_id"],
    "pipeline_runs": ["run_id"],
    "ledger": ["target"],
    "kept_releases": ["release"],
    "brought_along": ["collection", "target", "query_id", "part"],
}
