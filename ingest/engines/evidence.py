"""What a search engine answered, kept as it came: a JSON line for each query that it was asked."""

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from gradelake.ingest.engines.settings import SearchEngine
from gradelake.sql.common.counted import counted
from gradelake.sql.common.files import json_objects, lines_of
from gradelake.sql.common.problems import Problems, reject

_TYPES = {
    **{"query_id": pl.String, "passage_id": pl.String, "rank": pl.Int32, "score": pl.Float64},
    **{"text": pl.String, "line": pl.Int64},
}


def evidence_of(collection: str, engine: str) -> str:
    """The file of an engine's answers, relative to the project's folder."""
    return f"engines/{collection}/{engine}.jsonl"


def kept_answers(
    path: Path, shown: str, engine: SearchEngine, queries: dict[str, str]
) -> dict[str, tuple[int, str]]:
    """query id -> (line, answer): the last answer to each query as it is asked now, with its text
    and the engine's settings. Raises `Rejected` for lines that are no JSON."""
    problems = Problems(shown, "Remove these lines: `gradelake search` asks those queries again.")
    asked = {query_id: engine.request(query_id, text) for query_id, text in queries.items()}
    found = {}
    for line, kept in json_objects(lines_of(path, shown), problems):
        query_id = str(kept.get("query_id"))
        if query_id in asked and asked[query_id] == kept.get("request"):
            found[query_id] = (line, str(kept.get("answer")))
    problems.raise_if_any()
    return found


def read_hits(
    path: Path,
    shown: str,
    engine: SearchEngine,
    queries: dict[str, str],
    note: Callable[[str], object],
) -> Iterator[pl.DataFrame]:
    """An engine's ranking in one frame: query_id, passage_id, rank, score, text, line. `note` is
    called where queries have no answer.

    Raises `Rejected` with all answers in which the settings find no ids.
    """
    hint = f"See what `head -n 1 {shown}` holds, and correct hits and id in gradelake.toml."
    problems, rows = Problems(shown, hint), []
    kept = kept_answers(path, shown, engine, queries)
    for query_id, (line, answer) in kept.items():
        try:
            rows += [(query_id, *hit, line) for hit in engine.hits_of(answer)]
        except ValueError as error:
            problems.add(line, str(error))
    problems.raise_if_any()
    if not kept:
        fix = "Ask it: `gradelake search`; texts or settings changed since it answered."
        raise reject(shown, None, "has no answer to the topics as they are asked now", fix)
    if not rows:
        raise reject(shown, None, f"no answer has a hit at {engine.hits!r}", hint)
    if lacking := len(queries) - len(kept):
        note(f"{shown}: {counted(lacking, 'queries', 'have')} no answer: `gradelake search` asks")
    yield pl.DataFrame(rows, schema=_TYPES, orient="row")
