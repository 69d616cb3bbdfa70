"""Topics, passages, official ranks and near-duplicate clusters of a local collection."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from gradelake.sql.common import files
from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import Problems, reject


class Query(NamedTuple):
    """A topic; `text` is what systems were asked, the rest is for people and prompts."""

    query_id: str
    text: str
    description: str | None = None
    narrative: str | None = None


class Passage(NamedTuple):
    """A unit of text that is judged and graded."""

    doc_id: str
    text: str

    def default_text(self) -> str:
        return self.text


# The names these fields go by in the formats people have (ours first, then BEIR, TREC RAG, ...).
QUERY_ID = ("query_id", "qid", "id", "_id", "request_id", "topic_id", "narrative_id")
QUERY_TEXT = ("text", "query", "query_text", "title")
PASSAGE_ID = ("passage_id", "docid", "doc_id", "pid", "id", "_id", "paragraph_id")
PASSAGE_TEXT = ("text", "passage", "contents", "segment", "body", "doc")


def read_queries(path: Path, shown: str) -> list[Query]:
    """Topics from TSV (query_id TAB text) or JSON lines. Raises `Rejected` by line."""
    problems = Problems(
        shown,
        "Each query needs an id of its own and a text: on a line, with a TAB between, or in a "
        '.jsonl file as {"query_id": ..., "text": ...}.',
    )
    queries: dict[str, tuple[int, Query]] = {}
    for line, query in _queries(path, shown, problems):
        if not query.query_id or not query.text.strip():
            problems.add(line, "a query without an id or without a text")
        elif len(query.query_id.split()) > 1:
            problems.add(
                line, f"query id {query.query_id!r} holds a space; TREC runs cannot name it"
            )
        elif query.query_id in queries:
            first = queries[query.query_id][0]
            problems.add(line, f"query {query.query_id!r} is listed twice (first on line {first})")
        else:
            queries[query.query_id] = (line, query)
    problems.raise_if_any()
    if not queries:
        raise reject(shown, None, "holds no topics, only a header", problems.hint)
    return [query for _, query in queries.values()]


def _queries(path: Path, shown: str, problems: Problems) -> list[tuple[int, Query]]:
    data = files.read(path, shown)
    if _is_json(path):
        return [
            (
                line,
                Query(
                    _field(row, QUERY_ID),
                    _field(row, QUERY_TEXT),
                    _field(row, ("description", "problem_statement")) or None,
                    _field(row, ("narrative", "background")) or None,
                ),
            )
            for line, row in files.json_lines(data, shown)
        ]
    first, _, _ = data.lstrip().partition(b"\n")
    if first.startswith(b"<") and b"\t" not in first:  # TREC's own form
        raise reject(shown, 1, "looks like XML, of which no topics are read", problems.hint)
    found = []
    for line, text in files.numbered_lines(data):
        cells = text.split("\t")
        if line == 1 and _is_header(cells, QUERY_ID, QUERY_TEXT):
            continue
        if len(cells) < 2:
            problems.add(line, "no TAB between the query's id and its text")
            continue
        if len(cells) > 2:
            problems.add(line, f"{len(cells)} columns instead of 2, the query's id and its text")
            continue
        found.append((line, Query(cells[0].strip(), cells[1].strip())))
    return found


def read_passages(path: Path, shown: str) -> list[Passage]:
    """Passages from TSV (passage_id TAB text) or JSON lines. Raises `Rejected` by line.

    A JSON `title` is put before the text, on a line of its own.
    """
    data = files.read(path, shown)
    problems = Problems(shown, "Each passage needs an id of its own and a text.")
    if _is_json(path):
        rows = [
            (line, _field(row, PASSAGE_ID), _titled(row))
            for line, row in files.json_lines(data, shown)
        ]
    else:
        rows = []
        for line, text in files.numbered_lines(data):
            passage_id, tab, rest = text.partition("\t")
            if line == 1 and _is_header([passage_id, rest], PASSAGE_ID, PASSAGE_TEXT):
                continue
            if not tab:
                problems.add(line, "no TAB between the passage's id and its text")
            else:
                rows.append((line, passage_id.strip(), rest.strip()))
    seen: dict[str, int] = {}
    for line, passage_id, text in rows:
        if not passage_id or not text.strip():
            problems.add(line, "a passage without an id or without a text")
        elif passage_id in seen:
            problems.add(
                line, f"passage {passage_id!r} is listed twice (first on line {seen[passage_id]})"
            )
        seen.setdefault(passage_id, line)
    problems.raise_if_any()
    if not rows:
        raise reject(shown, None, "holds no passages, only a header", problems.hint)
    return [Passage(passage_id, text) for _, passage_id, text in rows]


def read_official_ranks(path: Path, shown: str) -> list[tuple[str, float, float | None]]:
    """(system, rank, score?) from JSON {system: rank} or TSV (system, rank[, score]).

    Ranks are counted anew so that ties share the average: given ranks 1, 2, 2 become 1, 2.5, 2.5.
    Raises `Rejected` for a rank below 1 or not a number, and a system listed twice.
    """
    data = files.read(path, shown)
    problems = Problems(shown, 'Give {"system": rank, ...}, or lines of: system TAB rank.')
    rows: list[tuple[int | None, str, Any, Any]] = []
    if path.name.removesuffix(".gz").endswith(".json"):
        try:
            content = files.parse_json(data.decode(), object_pairs_hook=_refuse_repeats)
        except json.JSONDecodeError as error:
            raise reject(shown, error.lineno, f"not JSON: {error.msg}", problems.hint) from error
        except ValueError as error:
            raise reject(shown, None, str(error), problems.hint) from error
        if not isinstance(content, dict):
            raise reject(shown, 1, "not a JSON object", problems.hint)
        rows = [(None, system, rank, None) for system, rank in content.items()]
    else:
        for line, text in files.numbered_lines(data):
            cells = text.split()
            if len(cells) not in (2, 3):
                problems.add(line, f"{counted(len(cells), 'columns')} instead of 2 or 3")
            elif line > 1 or cells[:2] != ["system", "rank"]:
                rows.append((line, cells[0], cells[1], cells[2] if len(cells) == 3 else None))
    ranks: dict[str, tuple[float, float | None]] = {}
    for at, system, rank, score in rows:
        number, points = _number(rank), _number(score)
        if not system:
            problems.add(at, "a system without a name")
        elif system in ranks:
            problems.add(at, f"system {system!r} is listed twice")
        elif number is None or not number >= 1:
            problems.add(at, f"system {system!r}: rank {rank!r} is not a number from 1 up")
        elif score is not None and points is None:
            problems.add(at, f"system {system!r}: score {score!r} is not a number")
        else:
            ranks[system] = (number, points)
    problems.raise_if_any()
    given = [rank for rank, _ in ranks.values()]
    return [(system, _average_rank(rank, given), score) for system, (rank, score) in ranks.items()]


def _average_rank(rank: float, given: list[float]) -> float:
    """1-based position of `rank` among the given ones, tied ones sharing the average."""
    return sum(other < rank for other in given) + (sum(other == rank for other in given) + 1) / 2


def read_near_duplicates(path: Path, shown: str) -> list[tuple[str, str]]:
    """(passage_id, canonical passage_id) from clusters, one a line, the canonical id first.

    Raises `Rejected` for a passage in two clusters and a cluster of one.
    """
    data = files.read(path, shown)
    problems = Problems(shown, "One cluster a line: the canonical passage id, then its duplicates.")
    seen: dict[str, int] = {}
    pairs = []
    for line, text in files.numbered_lines(data):
        canonical, *duplicates = text.split()
        if not duplicates:
            problems.add(line, f"a cluster of one: {canonical!r}")
        for passage_id in (canonical, *duplicates):
            if passage_id in seen:
                problems.add(line, f"passage {passage_id!r} is also on line {seen[passage_id]}")
            seen.setdefault(passage_id, line)
        pairs += [(passage_id, canonical) for passage_id in duplicates]
    problems.raise_if_any()
    return pairs


def _is_header(cells: list[str], ids: tuple[str, ...], texts: tuple[str, ...]) -> bool:
    """Whether the first line of a TSV names its two columns."""
    names = [cell.strip().lower() for cell in cells]
    return len(names) == 2 and names[0] in ids and names[1] in texts


def _is_json(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith((".jsonl", ".json", ".ndjson"))


def _field(row: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = row.get(name)
        if isinstance(value, bool):
            continue
        if isinstance(value, int):
            return str(value)
        if isinstance(value, str):
            return value.strip()
    return ""


def _titled(row: dict[str, Any]) -> str:
    title, text = _field(row, ("title",)), _field(row, PASSAGE_TEXT)
    return f"{title}\n{text}" if title and text else text


def _number(value: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):
        return None
    return number if abs(number) < float("inf") else None


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"system {key!r} is listed twice")
        found[key] = value
    return found
