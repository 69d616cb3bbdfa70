"""Scores by their names, as tools write them: in cells, objects, or lists of objects."""

from typing import Any

from gradelake.ingest.mapping.paths import opened
from gradelake.ingest.reading.csv_tables import finite_number

LARGEST = 100_000  # boards hold ten decimals beside it
_NAME = ("name", "metric", "key", "measure")
_SCORE = ("score", "value", "avg", "mean")
_NAME_LENGTH = 100
_YES_OR_NO = {"true": 1.0, "false": 0.0}


def named_scores(value: Any) -> dict[str, Any]:
    """What each score is, by its name (one alone is `score`): a number where it is one, or true or
    false. An empty one is left out, and so is what has no name."""
    value = opened(value)
    if isinstance(value, list):
        objects = [each for each in value if isinstance(each, dict)]
        value = {_name_of(each): each for each in objects}
    if not isinstance(value, dict):
        value = {"score": value}
    found = {}
    for name, score in value.items():
        score = opened(score)
        score = _first(score, _SCORE) if isinstance(score, dict) else score
        if name and score not in (None, "") and score == score:
            number = _YES_OR_NO.get(str(score).lower(), finite_number(score))
            found[" ".join(str(name).split())[:_NAME_LENGTH]] = score if number is None else number
    return found


def _name_of(score: dict[str, Any]) -> Any:
    """What a score is called; promptfoo says it within what was asserted."""
    asserted = score.get("assertion")
    within = asserted if isinstance(asserted, dict) else {}
    return _first(score, _NAME) or _first(within, ("metric", "type"))


def _first(held: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((held[name] for name in names if held.get(name) not in (None, "")), None)
