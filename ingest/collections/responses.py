"""Generated responses, split into the passages that are graded.

Two shapes of JSON lines are read: `{"system", "query_id", "text"}`, and TREC's reports, which say
their run and topic under `metadata` (RAG 2025 and 2026, RAGTIME, DRAGUN) or at the top (RAG 2024).
Their sentences carry citations in one of three shapes: document ids (DRAGUN, NeuCLIR), ids with a
confidence (RAGTIME), or 0-based positions in the report's `references` (RAG). An answer that is
empty abstains: it has no passages, and scores 0.
"""

import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from gradelake.ingest.collections.trec import refuse_two_names, system_name
from gradelake.ingest.mapping.columns import roles_of
from gradelake.ingest.reading.rows import is_table
from gradelake.sql.common import files
from gradelake.sql.common.problems import Problems

MAX_TOKENS = 400  # of a passage (RUBRIC, section 4.2: up to 400 tokens)

_CJK = "\u3040-\u30ff\u3400-\u9fff"  # scripts without spaces: each character counts
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|[^\w\s]")
_PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n")
# closing punctuation, before what looks like the start of a sentence
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|[。！？]")  # noqa: RUF001
_PARTS = ("answer", "responses", "references")
_OF_REPORTS = ("metadata", "answer", "responses")
_MAY_CUT_AFTER = re.compile(rf"[\s{_CJK}]")


@dataclass(frozen=True)
class Citation:
    """One citation of a sentence; both are counted from 1."""

    sentence: int
    citation: int
    cited_passage_id: str
    confidence: float | None = None


@dataclass
class Response:
    """What one system generated for one query."""

    system: str
    query_id: str
    text: str
    line: int
    sentences: list[str] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)  # of a report, as it states them
    references: list[Any] = field(default_factory=list)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """(start, end) of each passage in the text."""
        return split(self.text)

    @cached_property
    def starts(self) -> list[int]:
        """Where each sentence begins in the text."""
        found, end = [], 0
        for sentence in map(str.strip, self.sentences):
            found.append(self.text.index(sentence, end))
            end = found[-1] + len(sentence)
        return found

    def passages(self) -> list[tuple[str, str]]:
        """(passage_id, text) in order; a passage said twice is kept at its first place."""
        parts = [self.text[start:end] for start, end in self.spans]
        return list({passage_id(part): part for part in parts}.items())

    def citing_passage(self, sentence: int) -> str:
        """Id of the passage in which a sentence (1-based) of a report begins."""
        at = self.starts[sentence - 1]
        start, end = next((span for span in self.spans if span[1] > at), self.spans[-1])
        return passage_id(self.text[start:end])


def passage_id(text: str) -> str:
    """Id of a generated passage: md5 of its stripped text, so that equal text is graded once."""
    return hashlib.md5(text.strip().encode(), usedforsecurity=False).hexdigest()


def count_tokens(text: str) -> int:
    """Words and punctuation marks: a stand-in for a model's tokens that needs no model."""
    return len(_TOKEN.findall(text))


def split(text: str, max_tokens: int = MAX_TOKENS) -> list[tuple[int, int]]:
    """(start, end) of a response's passages of at most `max_tokens` tokens, blanks between them.

    Whole paragraphs are packed together while they fit; a paragraph that does not fit is cut
    between sentences, a sentence that does not fit between words, a word between tokens.
    """
    found: list[tuple[int, int]] = []
    for start, end in _pieces(text, max_tokens):
        if found and count_tokens(text[found[-1][0] : end]) <= max_tokens:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _pieces(text: str, max_tokens: int) -> Iterator[tuple[int, int]]:
    """(start, end) of pieces that each fit: paragraphs, else sentences, else words."""
    for paragraph in parts_of(text, 0, len(text), _PARAGRAPH_END):
        if count_tokens(text[slice(*paragraph)]) <= max_tokens:
            yield paragraph
            continue
        for sentence in parts_of(text, *paragraph, _SENTENCE_END):
            yield from _words(text, *sentence, max_tokens)


def parts_of(text: str, start: int, end: int, ending: re.Pattern) -> Iterator[tuple[int, int]]:
    """(start, end) of the parts of a stretch of text, cut after each `ending`, without blanks."""
    cuts = [match.end() for match in ending.finditer(text, start, end)]
    for first, last in pairwise([start, *cuts, end]):
        part = text[first:last]
        if part.strip():
            first += len(part) - len(part.lstrip())
            yield first, first + len(part.strip())


def _words(text: str, start: int, end: int, max_tokens: int) -> Iterator[tuple[int, int]]:
    tokens = [token.start() for token in _TOKEN.finditer(text, start, end)]
    while len(tokens) > max_tokens:
        cut = max_tokens
        while cut and not _MAY_CUT_AFTER.match(text, tokens[cut] - 1):
            cut -= 1
        cut = cut or max_tokens  # one word that is longer than a passage
        yield tokens[0], tokens[0] + len(text[tokens[0] : tokens[cut]].rstrip())
        tokens = tokens[cut:]
    yield tokens[0], end


def read_responses(path: Path, shown: str) -> list[Response]:
    """Every response of a file. Raises `Rejected` with all faulty lines.

    A table without a column of systems is of the one that is called as its file.
    """
    problems = Problems(
        shown, 'Each line: {"system": ..., "query_id": ..., "text": ...}, or a TREC RAG report.'
    )
    found: list[Response] = []
    lines: dict[tuple[str, str], int] = {}
    if is_table(path, shown, "responses"):
        rows = _of_table(path, shown, problems)
    else:
        rows = files.json_objects(files.lines_of(path, shown), problems)
    for line, row in rows:
        try:
            is_report = "system" not in row and not row.keys().isdisjoint(_OF_REPORTS)
            response = _report(row, line) if is_report else _plain(row, line)
        except ValueError as error:
            problems.add(line, str(error))
            continue
        key = (response.system, response.query_id)
        if key in lines:
            problems.add(
                line,
                f"system {key[0]!r} answers query {key[1]!r} twice (first on line {lines[key]})",
            )
        lines.setdefault(key, line)
        found.append(response)
    problems.raise_if_any()
    refuse_two_names(shown, {response.system for response in found})
    return found


def _of_table(path: Path, shown: str, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, fields) of a table's rows, as our own JSON names them."""
    for line, row in roles_of("responses", path, shown, ("query", "text"), problems):
        system = row.get("system") or system_name(path, shown)
        yield line, {"system": system, "query_id": row.get("query"), "text": row.get("text", "")}


def _plain(row: dict[str, Any], line: int) -> Response:
    system, query_id, text = _text(row, "system"), _text(row, "query_id"), row.get("text")
    if not isinstance(text, str):
        raise ValueError("text is missing, or is no text")
    return Response(system, query_id, text.strip(), line)


def _report(row: dict[str, Any], line: int) -> Response:
    metadata = row.get("metadata", row)  # RAG 2024 has it all at the top
    if not isinstance(metadata, dict):
        raise ValueError("metadata is not an object")
    ids = (metadata.get(key) for key in ("topic_id", "narrative_id", "request_id"))
    query = next((each for each in ids if each is not None), None)
    if query is None:
        raise ValueError("there is no topic_id or narrative_id")
    parts = row.get("responses") or row.get("answer", row.get("responses"))
    if not isinstance(parts, list):
        raise ValueError("neither responses nor answer holds a list of sentences")
    references = row.get("references") or []
    if not isinstance(references, list):
        raise ValueError("references is not a list")
    sentences, citations = [], []
    for number, part in enumerate(parts, start=1):
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            raise ValueError(f"sentence {number} has no text")
        sentences.append(part["text"])
        citations += citations_of(part.get("citations"), number, references)
    text = " ".join(sentence.strip() for sentence in sentences).strip()
    citations = citations if text else []
    stated = {key: value for key, value in metadata.items() if key not in _PARTS}
    system, query_id = _text(metadata, "run_id"), str(query).strip()
    return Response(system, query_id, text, line, sentences, citations, stated, references)


def citations_of(stated: Any, sentence: int, references: list[Any]) -> list[Citation]:
    """What a sentence cites, in any of the three shapes. Raises `ValueError`."""
    if not stated:
        return []
    if isinstance(stated, dict):
        if "" in stated:
            raise ValueError(f"sentence {sentence}: citation '' is not a document id")
        return [
            Citation(sentence, nth, cited, _confidence(stated[cited]))
            for nth, cited in enumerate(stated, start=1)
        ]
    if not isinstance(stated, list):
        raise ValueError(f"sentence {sentence}: citations are neither a list nor an object")
    found = []
    for nth, cited in enumerate(stated, start=1):
        if isinstance(cited, int) and not isinstance(cited, bool):
            if not 0 <= cited < len(references):
                raise ValueError(
                    f"sentence {sentence} cites reference {cited}, "
                    f"but there are {len(references)} (counted from 0)"
                )
            cited = references[cited]
        if not isinstance(cited, str) or not cited:
            raise ValueError(f"sentence {sentence}: citation {cited!r} is not a document id")
        found.append(Citation(sentence, nth, cited))
    return found


def _confidence(value: Any) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
        raise ValueError(f"citation confidence {value!r} is not a finite number")
    return float(value)


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key} is missing or empty")
    return value.strip()
