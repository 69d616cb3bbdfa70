"""Generated responses, split into the passages that are graded.

Two shapes of JSON lines are read: `{"system", "query_id", "text"}`, and TREC RAG reports, whose
sentences carry citations in one of three shapes: document ids (NeuCLIR), ids with a confidence
(RAGTIME), or 0-based positions in the report's `references` (RAG 2024).
"""

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest import files
from ingest.problems import Problems

MAX_TOKENS = 400  # of a passage (RUBRIC, section 4.1: passages of about 400 tokens)

_CJK = "\u3040-\u30ff\u3400-\u9fff"  # scripts without spaces: each character counts
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|[^\w\s]")
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n")
# after closing punctuation, before what looks like the start of a sentence
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|(?<=[。！？])")  # noqa: RUF001


@dataclass(frozen=True)
class Citation:
    """One citation of a sentence (1-based)."""

    sentence: int
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

    def passages(self) -> list[tuple[str, str]]:
        """(passage_id, text) in order; a passage said twice is kept at its first place."""
        parts = split(self.text)
        return list({passage_id(part): part for part in parts}.items())

    def citing_passage(self, sentence: int) -> str:
        """Id of the passage that holds a sentence (1-based) of a report."""
        wanted = self.sentences[sentence - 1].strip()
        passages = self.passages()
        for found, text in passages:
            if wanted and wanted in text:
                return found
        # a sentence longer than a passage was cut: its beginning says where it stands
        start = " ".join(wanted.split()[:8])
        return next((found for found, text in passages if start in text), passages[0][0])


def passage_id(text: str) -> str:
    """Id of a generated passage: md5 of its stripped text, so that equal text is graded once."""
    return hashlib.md5(text.strip().encode(), usedforsecurity=False).hexdigest()


def count_tokens(text: str) -> int:
    """Words and punctuation marks: a stand-in for a model's tokens that needs no model."""
    return len(_TOKEN.findall(text))


def split(text: str, max_tokens: int = MAX_TOKENS) -> list[str]:
    """Cut a response into passages of at most `max_tokens` tokens.

    Whole paragraphs are packed together while they fit; a paragraph that does not fit is cut
    between sentences, a sentence that does not fit between words.
    """
    passages: list[str] = []
    for separator, pieces in _pieces(text.strip(), max_tokens):
        for piece in pieces:
            joined = f"{passages[-1]}{separator}{piece}" if passages else piece
            if passages and count_tokens(joined) <= max_tokens:
                passages[-1] = joined
            else:
                passages.append(piece)
    return passages


def _pieces(text: str, max_tokens: int) -> list[tuple[str, list[str]]]:
    """(what joins them, pieces that each fit), paragraph by paragraph."""
    found = []
    for paragraph in filter(None, (part.strip() for part in _PARAGRAPH.split(text))):
        if count_tokens(paragraph) <= max_tokens:
            found.append(("\n\n", [paragraph]))
            continue
        sentences = []
        for sentence in filter(None, (part.strip() for part in _SENTENCE.split(paragraph))):
            sentences += _words(sentence, max_tokens)
        # the paragraph starts a passage of its own; its sentences are then packed
        first, *rest = sentences
        found += [("\n\n", [first]), (" ", rest)]
    return found


def _words(sentence: str, max_tokens: int) -> list[str]:
    if count_tokens(sentence) <= max_tokens:
        return [sentence]
    parts, start, tokens = [], 0, 0
    for token in _TOKEN.finditer(sentence):
        if tokens == max_tokens:
            parts.append(sentence[start : token.start()].strip())
            start, tokens = token.start(), 0
        tokens += 1
    return [*parts, sentence[start:].strip()]


def read_responses(path: Path, shown: str) -> list[Response]:
    """Every response of a file. Raises `Rejected` with all faulty lines."""
    data = files.read(path, shown)
    problems = Problems(
        shown, 'Each line: {"system": ..., "query_id": ..., "text": ...}, or a TREC RAG report.'
    )
    found: list[Response] = []
    lines: dict[tuple[str, str], int] = {}
    for line, row in files.json_lines(data, shown):
        try:
            response = _report(row, line) if "metadata" in row else _plain(row, line)
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
    return found


def _plain(row: dict[str, Any], line: int) -> Response:
    return Response(
        _text(row, "system"), _text(row, "query_id"), _text(row, "text"), line
    )  # fmt: skip


def _report(row: dict[str, Any], line: int) -> Response:
    metadata = row["metadata"]
    if not isinstance(metadata, dict):
        raise ValueError("metadata is not an object")
    query = next(
        (metadata[key] for key in ("topic_id", "narrative_id", "request_id") if key in metadata),
        None,
    )
    if query is None:
        raise ValueError("metadata has no topic_id or narrative_id")
    parts = row.get("responses", row.get("answer"))
    if not isinstance(parts, list) or not parts:
        raise ValueError("neither responses nor answer holds a list of sentences")
    references = row.get("references") or []
    sentences, citations = [], []
    for number, part in enumerate(parts, start=1):
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            raise ValueError(f"sentence {number} has no text")
        sentences.append(part["text"])
        citations += _citations(part.get("citations"), number, references)
    text = " ".join(sentence.strip() for sentence in sentences).strip()
    if not text:
        raise ValueError("the report is empty")
    return Response(
        _text(metadata, "run_id"), str(query).strip(), text, line, sentences, citations
    )  # fmt: skip


def _citations(given: Any, sentence: int, references: list[Any]) -> list[Citation]:
    if not given:
        return []
    if isinstance(given, dict):
        return [Citation(sentence, str(cited), _confidence(c)) for cited, c in given.items()]
    if not isinstance(given, list):
        raise ValueError(f"sentence {sentence}: citations are neither a list nor an object")
    found = []
    for cited in given:
        if isinstance(cited, int) and not isinstance(cited, bool):
            if not 0 <= cited < len(references):
                raise ValueError(
                    f"sentence {sentence} cites reference {cited}, "
                    f"but there are {len(references)} (counted from 0)"
                )
            cited = references[cited]
        if not isinstance(cited, str) or not cited:
            raise ValueError(f"sentence {sentence}: citation {cited!r} is not a document id")
        found.append(Citation(sentence, cited))
    return found


def _confidence(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"citation confidence {value!r} is not a number")
    return float(value)


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key} is missing or empty")
    return value.strip()
