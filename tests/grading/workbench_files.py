"""Hand-written graded files, and what a lake holds of them."""

import json

from gradelake.grading.exchange.choices import Choices
from gradelake.grading.exchange.grades_import import import_grades

LLM = "google/flan-t5-large"
RATED = {
    "prompt_class": "QuestionSelfRated",
    "prompt_style": "Can it be answered?",
    "context_first": False,
    "is_self_rated": True,
}
EXTRACTED = {"prompt_class": "QuestionExtract", "is_self_rated": False}
# a grader and a grade of a lake, as `gradelake export grades` writes them
EXPORTED = {
    "llm_options": {
        "gradelake": {
            "grader_id": "g1",
            "name": "theirs",
            "engine": "vllm",
            "model": "m",
            "model_revision": "r",
            "target": "question",
            "prompt": "p",
            "prompt_sha256": "0",
            "prompt_text": "?",
            "scale_min": 0,
            "scale_max": 5,
            "settings": "{}",
            "parser": "paper",
            "created_at": "2026-01-01T00:00:00",
        }
    },
    "gradelake": {
        "grades": [
            {
                "item_id": "q1/c",
                "grade": 3,
                "status": "ok",
                "answer": None,
                "response": "3",
                "error": None,
                "passage_sha256": None,
                "expected_grade": 2.5,
                "scale_mass": 0.9,
                "prompt_tokens": 10,
                "cached_tokens": 0,
                "completion_tokens": 1,
                "cut_characters": 0,
                "query_sha256": None,
                "graded_at": "2026-01-01T00:00:00",
            }
        ]
    },
}


def rated(ratings, replies=None, **changes):
    """An exam entry: {item: rating}, and {item: reply}, by default the rating's digit."""
    if replies is None:
        replies = {item: str(rating) for item, rating in ratings.items()}
    correct = [item for item, rating in ratings.items() if rating > 0]
    failed = changes.get("llm_response_errors") or {}
    return {
        "correctAnswered": correct,
        "wrongAnswered": [item for item in ratings if item not in correct],
        "answers": [[item, reply] for item, reply in replies.items()],
        "llm": LLM,
        "llm_options": {},
        "exam_ratio": len(correct) / (len(ratings) + len(failed)) if ratings or failed else 0.0,
        "prompt_info": RATED,
        "self_ratings": [{"question_id": i, "self_rating": r} for i, r in ratings.items()],
        "prompt_type": "question",
    } | changes


def extracted(answers, correct, **changes):
    """An exam entry with {item: extracted text}, and the items that count as answered."""
    return {
        "correctAnswered": correct,
        "wrongAnswered": [item for item in answers if item not in correct],
        "answers": [[item, text] for item, text in answers.items()],
        "llm": LLM,
        "llm_options": {},
        "exam_ratio": len(correct) / len(answers),
        "prompt_info": EXTRACTED,
        "prompt_type": "question",
    } | changes


def direct(rating, answer="", **changes):
    """An entry of a direct judge."""
    return {
        "correctAnswered": rating > 0,
        "answer": answer,
        "llm": "gpt/sun",
        "llm_options": {},
        "prompt_info": {"prompt_class": "Sun", "is_self_rated": True},
        "self_ratings": rating,
        "prompt_type": "direct_grading",
    } | changes


def paragraph(passage="p1", exam=(), grades=(), judgments=(), rankings=(), **changes):
    """A paragraph with the text that the tiny collection has."""
    return {
        "paragraph_id": passage,
        "text": f"Text of passage {passage[1:]}.",
        "paragraph": "",
        "paragraph_data": {"judgments": list(judgments), "rankings": list(rankings)},
        "exam_grades": list(exam),
        "grades": list(grades),
    } | changes


def judgment(passage, relevance, query="q1", title="why is the sky blue"):
    return {"paragraphId": passage, "query": query, "relevance": relevance, "titleQuery": title}


def ranking(method, passage, rank, score, query="q1"):
    return {
        "method": method,
        "paragraphId": passage,
        "queryId": query,
        "rank": rank,
        "score": score,
    }


def lines(**paragraphs):
    """The file's lines: query -> paragraphs."""
    return [json.dumps([query, given]) for query, given in paragraphs.items()]


def bring(tiny, file="graded.jsonl", **choices):
    return import_grades(
        tiny.lake, tiny.name, tiny.folder / file, Choices(**choices), ["import", "grades"]
    )


def brought(tiny, given, file="graded.jsonl", **choices):
    """Import lines, or paragraphs of q1."""
    if given and isinstance(given[0], dict):
        given = lines(q1=given)
    tiny.write(file, given)
    return bring(tiny, file, **choices)


def grades(tiny, columns="passage_id, item_id, grade, status", where="true"):
    return tiny.rows(
        f"select {columns} from lake.raw.grades inner join lake.raw.graders using (grader_id) "
        f"where {where} order by all"
    )


def names(tiny):
    return [name for (name,) in tiny.rows("select name from lake.raw.graders order by name")]
