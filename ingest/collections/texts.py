"""Topics, passages, official ranks and near-duplicate clusters of a local collection."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import polars as pl

from gradelake.ingest.collections.responses import passage_id
from gradelake.ingest.mapping.columns import mapped, roles_of
from gradelake.ingest.mapping.form import ROLES, is_usual, names_of
from gradelake.ingest.reading.csv_tables import finite_number
from gradelake.ingest.reading.rows import entries_of, is_json, is_table, rows_of
from gradelake.sql.common import files
from gradelake.sql.common.console import unseen
from gradelake.sql.common.counted import counted
from gradelake.sql.common.problems import Problems, reject


class Facet(NamedTuple):
    """A subtopic of a topic."""

    facet_id: str
    text: str


class Query(NamedTuple):
    """A topic; `text` is what systems were asked, what comes up to `facets` is for people and
    prompts. `weight`, `cluster` and `segments` say how it counts in means."""

    query_id: str
    text: str
    description: str | None = None
    narrative: str | None = None
    facets: tuple[Facet, ...] = ()
    weight: float | None = None
    cluster: str | None = None
    segments: tuple[str, ...] = ()


COUNTING = Query._fields[-3:]


class Passage(NamedTuple):
    """A unit of text that is judged and graded."""

    doc_id: str
    text: str

    def default_text(self) -> str:
        return self.text


T = TypeVar("T", Query, Passage)
FACET_ID = ("facet_id", "subtopic_id", "id", "number")
FACET_TEXT = ("text", "subtopic", "title")
_IDS = 100_000  # held before they become hashes


def read_queries(path: Path, shown: str) -> list[Query]:
    """Topics from TSV (query_id TAB text), JSON lines or any table. Raises `Rejected` by line.

    A row of a table that has no id gets one from its text.
    """
    problems = Problems(
        shown,
        "Each query needs an id of its own and a text: on a line, with a TAB between, or in a "
        '.jsonl file as {"query_id": ..., "text": ...}.',
    )
    by_table = is_table(path, shown, "queries")
    by_line = not by_table and not is_json(path)
    found = []
    made_of: set[str] = set()  # texts that are topics' ids, too: rows that repeat one are one topic
    for line, row in _rows("queries", path, shown, problems):
        own_id, text = _text(row, "query"), _text(row, "text")
        made = query_id_of(text) if by_table and text and not own_id else ""
        if made and text in made_of:
            continue
        made_of |= {text} if made else set()
        query = Query(
            own_id or made,
            text,
            _text(row, "description") or None,
            _text(row, "narrative") or None,
            tuple(_facets(row.get("subtopics"), line, problems)),
            *counting(row, line, problems),
        )
        if len(query.query_id.split()) > 1:
            problems.add(
                line, f"query id {query.query_id!r} holds a space; TREC runs cannot name it"
            )
        if by_line and (tabs := text.count("\t")):
            problems.add(line, f"{2 + tabs} columns instead of 2, the query's id and its text")
        found.append((line, query))
    queries = _one_each("query", found, problems)
    if not found:
        raise reject(shown, None, "holds no topics, only a header", problems.hint)
    return queries


def counting(
    row: dict[str, Any], line: int, problems: Problems
) -> tuple[float | None, str | None, tuple[str, ...]]:
    """The weight, the cluster and the segments that a row states, by the keys `COUNTING`.

    Segments are a list of texts, one text with a bar between them, or an object: {"language": "de"}
    is `language=de`.
    """
    weight, stated = row.get("weight"), row.get("segments")
    number = None if weight in (None, "") else finite_number(weight)
    if (number is None) != (weight in (None, "")) or (number or 0) < 0:
        problems.add(line, f"weight {weight!r} is not a number of at least 0")
    if isinstance(stated, dict):
        stated = [f"{name}={value}" for name, value in stated.items() if value is not None]
    each = stated.split("|") if isinstance(stated, str) else [] if stated is None else stated
    if not isinstance(each, list) or not all(isinstance(one, str) for one in each):
        problems.add(line, "segments are not a list of texts, one text, or an object")
        each = []
    segments = dict.fromkeys(text for one in each if (text := one.strip()))
    if "all" in segments:
        problems.add(line, "no segment may be called all: to a gate that is every query")
    return number, _text(row, "cluster") or None, tuple(segments)


def read_query_weights(path: Path, shown: str) -> tuple[list[str], list[tuple[int, Query]]]:
    """(which of `COUNTING` a table has, (line, query without its text) of each row), of any form
    that tables have. A row names its query by its id, or by its text.

    Raises `Rejected` by line.
    """
    hint = f"It needs a column of queries, and at least one of {', '.join(COUNTING)}."
    problems = Problems(shown, hint)
    stated: set[str] = set()
    found = []
    for line, row in roles_of("queries", path, shown, (), problems):
        stated |= row.keys() & {*COUNTING}
        named = row.get("query") or row.get("text", "")
        found.append((line, Query(named, "-", None, None, (), *counting(row, line, problems))))
    _one_each("query", found, problems)
    if not stated:
        raise reject(shown, None, f"says nothing of {', '.join(COUNTING)}", hint)
    return [name for name in COUNTING if name in stated], found


def _facets(stated: Any, line: int, problems: Problems) -> Iterator[Facet]:
    """The subtopics of a topic: texts, or objects with an id and a text."""
    if stated in (None, ""):
        return
    if not isinstance(stated, list):
        problems.add(line, "subtopics are not a list of texts, or of objects with id and text")
        return
    seen = set()
    for n, each in enumerate(stated, start=1):
        row = each if isinstance(each, dict) else {"text": each}
        text = _field(row, FACET_TEXT)
        facet = Facet(_field(row, FACET_ID) if row is each else facet_id_of(text), text)
        if not all(facet):
            problems.add(line, f"subtopic {n} is without an id or without a text")
        elif len(facet.facet_id.split()) > 1:
            problems.add(line, f"subtopic id {facet.facet_id!r} holds a space")
        elif facet.facet_id in seen:
            problems.add(line, f"subtopic {facet.facet_id!r} is listed twice")
        seen.add(facet.facet_id)
        yield facet


def facet_id_of(text: str) -> str:
    """The id of a subtopic that is only a text: percent-encoded, as TREC CAR names headings."""
    return quote(text, safe="")


def query_id_of(text: str) -> str:
    """The id of a topic that has none: its first words and a hash of its text, always the same."""
    words = re.sub(r"\W+", "-", text.lower())[:40].strip("-")
    return f"{words}-{hashlib.sha256(text.encode()).hexdigest()[:8]}".lstrip("-")


def read_passages(
    path: Path, shown: str, progress: Callable[..., Any] = unseen
) -> Iterator[Passage]:
    """Passages from TSV (passage_id TAB text) or JSON lines, of a file that need not fit into
    memory, or from any table. Raises `Rejected` by line, at the end: until then nobody knows that
    the file is good.

    A `title` is put before the text, on a line of its own, and is the text where there is no
    other. A passage may be empty; a line that has no field for a text is a fault. A row of a table
    that has no id gets one from its text.
    """
    problems = Problems(
        shown,
        "Each passage needs an id of its own and a text. Fields of other names are told by: "
        f'passages = {{ file = "{shown}", passage = "...", text = "..." }}',
    )
    hashes = [_hashes([])]
    ids: list[tuple[int, str]] = []
    for line, passage in _passages(path, shown, problems, progress):
        if not passage.doc_id:
            problems.add(line, "a passage without an id")
            continue
        yield passage
        ids.append((line, passage.doc_id))
        if len(ids) == _IDS:
            hashes.append(_hashes(ids))
            ids = []
    # no more is held of an id than a hash; of ids that share one, a second reading tells more
    both = pl.concat([*hashes, _hashes(ids)]).sort("hash")
    if both.is_empty() and not problems.found:
        raise reject(shown, None, "holds no passages, only a header", problems.hint)
    same = pl.col("hash") == pl.col("hash").shift(1)
    if suspects := set(both.filter(same | same.shift(-1))["line"]):
        again = _passages(path, shown, Problems(shown, ""))
        _one_each("passage", [each for each in again if each[0] in suspects], problems)
    problems.raise_if_any()


def _hashes(ids: list[tuple[int, str]]) -> pl.DataFrame:
    frame = pl.DataFrame(ids, schema={"line": pl.UInt32, "id": pl.String}, orient="row")
    return frame.select("line", pl.col("id").hash().alias("hash"))


def _passages(
    path: Path, shown: str, problems: Problems, progress: Callable[..., Any] = unseen
) -> Iterator[tuple[int, Passage]]:
    """(line, passage) of every row with a field for a text, perhaps without an id."""
    by_table = is_table(path, shown, "passages")
    for line, row in _rows("passages", path, shown, problems, progress):
        if lacks := _lacks(row, by_table):
            usual = ", ".join(ROLES["passages"][lacks])
            what = {"passage": "an id", "text": "a text"}[lacks]
            problems.add(line, f"a passage without {what}: no field {usual}")
            continue
        text = "\n".join(filter(None, (_text(row, "title"), _text(row, "text"))))
        made = passage_id(text) if by_table and text else ""
        yield line, Passage(_text(row, "passage") or made, text)


def _lacks(passage: dict[str, Any], by_table: bool) -> str | None:
    """Which role has no field at all; one of a table gets its id from its text."""
    if "title" not in passage and "text" not in passage:
        return "text"
    return None if by_table or "passage" in passage else "passage"


def _rows(
    kind: str, path: Path, shown: str, problems: Problems, progress: Callable[..., Any] = unseen
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, {role: value}) of a table, of JSON lines, of a JSON object of texts by their
    ids, or of lines with an id, a TAB and a text."""
    by_table = is_table(path, shown, kind)
    if by_table or is_json(path):
        required = ("text",) if by_table and kind == "queries" else ()
        also = () if by_table else ("subtopics",)
        entries = None if by_table else entries_of(path, shown, names_of(kind))
        rows = rows_of(path, shown, problems, progress) if entries is None else entries
        yield from mapped(kind, path, shown, rows, problems, required, also)
        return
    own = "query" if kind == "queries" else "passage"
    for line, content in files.lines_of(path, shown, progress):
        own_id, tab, text = content.partition("\t")
        if line == 1 and is_usual(kind, own, own_id) and is_usual(kind, "text", text):
            continue
        if tab:
            yield line, {own: own_id.strip(), "text": text.strip()}
        else:
            problems.add(line, f"no TAB between the {own}'s id and its text")


def _one_each(what: str, found: Sequence[tuple[int, T]], problems: Problems) -> list[T]:
    """The first row of each id: a file may name one again on many rows.

    Raises `Rejected` for what has no id or no text, and for ids that come again with something
    else.
    """
    firsts: dict[str, tuple[int, T]] = {}
    for line, each in found:
        own_id, text = each[:2]
        if not own_id or not (text or what == "passage"):
            problems.add(line, f"a {what} without an id or without a text")
            continue
        first, known = firsts.setdefault(own_id, (line, each))
        if known != each:
            other = ", with another text" if known[1] != text else ""
            problems.add(line, f"{what} {own_id!r} is listed twice (first on line {first}){other}")
    problems.raise_if_any()
    return [each for _, each in firsts.values()]


def read_official_ranks(path: Path, shown: str) -> list[tuple[str, float, float | None]]:
    """(system, rank, score?) from JSON {system: rank} or TSV (system, rank[, score]).

    Ranks are counted anew so that ties share the average: 1, 2, 2 become 1, 2.5, 2.5.
    Raises `Rejected` for a rank below 1 or not a number, and a system listed twice.
    """
    data = files.read(path, shown)
    problems = Problems(shown, 'Give {"system": rank, ...}, or lines of: system TAB rank.')
    rows: list[tuple[int | None, str, Any, Any]] = []
    if path.name.removesuffix(".gz").endswith(".json"):
        # an object as a tuple of pairs: one system may be in it twice
        content = files.json_of(data, shown, problems.hint, object_pairs_hook=tuple)
        if not isinstance(content, tuple):
            raise reject(shown, 1, "not a JSON object", problems.hint)
        rows = [(None, system, rank, None) for system, rank in content]
    else:
        for line, text in files.numbered_lines(data):
            cells = text.split()
            if len(cells) not in (2, 3):
                problems.add(line, f"{counted(len(cells), 'columns')} instead of 2 or 3")
            elif line > 1 or cells[:2] != ["system", "rank"]:
                rows.append((line, cells[0], cells[1], cells[2] if len(cells) == 3 else None))
    ranks: dict[str, tuple[float, float | None]] = {}
    for at, system, rank, score in rows:
        number, points = finite_number(rank), finite_number(score)
        if not system:
            problems.add(at, "a system without a name")
        elif system in ranks:
            problems.add(at, f"system {system!r} is listed twice")
        elif number is None or not number >= 1:
            problems.add(at, f"system {system!r}: rank {rank!r} is not a number of at least 1")
        elif score is not None and points is None:
            problems.add(at, f"system {system!r}: score {score!r} is not a number")
        else:
            ranks[system] = (number, points)
    problems.raise_if_any()
    shared = pl.Series([rank for rank, _ in ranks.values()], dtype=pl.Float64).rank("average")
    return [
        (system, rank, score)
        for (system, (_, score)), rank in zip(ranks.items(), shared, strict=True)
    ]


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
        for each in (canonical, *duplicates):
            if each in seen:
                problems.add(line, f"passage {each!r} is also on line {seen[each]}")
            seen.setdefault(each, line)
        pairs += [(each, canonical) for each in duplicates]
    problems.raise_if_any()
    return pairs


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


def _text(row: dict[str, Any], role: str) -> str:
    """What stands there as a text; lists and objects are none."""
    return value if isinstance(value := row.get(role), str) else ""
