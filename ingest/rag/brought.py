"""What rows of a log bring: rankings, answers with what their sentences cite, and references."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from gradelake.ingest.collections.responses import (
    Citation,
    Response,
    citations_of,
    parts_of,
    passage_id,
)
from gradelake.ingest.rag.log import Context, Row
from gradelake.sql.common.hashes import text_sha256
from gradelake.sql.common.rubric_items import item_id_of

# a row of what a retrieval found
RETRIEVAL = ("query_id", "call", "searched", "passage_id", "rank", "score")
_MARK = r"\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]"  # noqa: RUF001
# closing punctuation, marks, and blanks before what looks like the start of a sentence
_SENTENCE_END = re.compile(
    rf"[.!?][\"')\]]*(?:\s*{_MARK})*\s+(?=[\"'(]?[A-Z0-9])|[。！？]|\s*\n\s*"  # noqa: RUF001
)


@dataclass
class OfSystem:
    """What a log has of one system, ready to be written."""

    entries: list[tuple[str, str, int, float]] = field(default_factory=list)
    retrieved: list[tuple] = field(default_factory=list)
    answers: list[Response] = field(default_factory=list)
    scores: list[tuple[str, str, float]] = field(default_factory=list)  # measure, query, score
    asked: dict[str, Row] = field(default_factory=dict)  # query -> its row


@dataclass
class Brought:
    """What a log brings, ready to be written. `known`: passages of the collection that it names,
    by the hashes of their texts or by their ids; `marks`: whether [1] cites."""

    known: dict[str, str]
    marks: bool
    systems: dict[str, OfSystem] = field(default_factory=dict)
    texts: dict[str, tuple[str, str, int | None, str]] = field(default_factory=dict)
    references: dict[str, dict[str, str]] = field(default_factory=dict)  # query -> item -> text
    topics: dict[str, tuple[str, str | None]] = field(default_factory=dict)  # text, narrative
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def n_questions(self) -> int:
        """Questions of all systems together."""
        return sum(len(system.asked) for system in self.systems.values())

    def take(self, row: Row, query_id: str, system: str) -> None:
        """Add a row's contexts, answer and references. Raises `ValueError` with what is wrong."""
        of_system = self.systems.setdefault(system, OfSystem())
        if (first := of_system.asked.setdefault(query_id, row)) is not row:
            if (first.answer, first.contexts) != (row.answer, row.contexts):
                what = f"the question is asked twice (first on {first.line}), with other results"
                raise ValueError(f"{what}: does a column say whose? --column system=COLUMN")
            self.counts["are there twice and taken once"] += 1
            return
        places = self._places(row.contexts)
        ranked = list(dict.fromkeys(filter(None, places)))
        of_system.entries += [
            (query_id, own_id, rank, -float(rank)) for rank, own_id in enumerate(ranked, start=1)
        ]
        of_system.retrieved += self._retrieved(row, query_id)
        self.counts["have several retrievals"] += len(row.retrievals) > 1
        if not ranked:
            self.counts["have no contexts"] += 1
        of_system.scores += [(name, query_id, row.scores[name]) for name in sorted(row.scores)]
        if row.answer is not None:
            of_system.answers.append(self._response(row, query_id, system, places))
        items = {
            item_id_of(query_id, "", sentence): sentence
            for text in row.references
            for sentence in sentences_of(text)
        }
        if items:
            self.references.setdefault(query_id, {}).update(items)

    def _retrieved(self, row: Row, query_id: str) -> Iterator[tuple]:
        """What each retrieval found; one that found nothing has a row without a passage."""
        for call, retrieval in enumerate(row.retrievals, start=1):
            scores: dict[str, float | None] = {}
            places = self._places(retrieval.contexts)
            for own_id, score in zip(places, retrieval.scores, strict=True):
                if own_id:
                    scores.setdefault(own_id, score)
            found: list[tuple] = [
                (own_id, n, score) for n, (own_id, score) in enumerate(scores.items(), 1)
            ]
            for each in found or [(None, None, None)]:
                yield query_id, call, retrieval.searched or None, *each

    def _places(self, contexts: list[Context]) -> list[str | None]:
        """The passages of contexts, by their places; blank ones have none."""
        places: list[str | None] = []
        for context in contexts:
            own_id = self.known.get(text_sha256(context.text) if context.text else context.own_id)
            if context.own_id and not context.text and not own_id:
                raise ValueError(f"context {context.own_id!r} has no text, and is no passage here")
            if context.text and not own_id:
                own_id = passage_id(context.text)
                self.texts[own_id] = (own_id, context.text, None, "corpus")
            places.append(own_id)
        return places

    def _response(self, row: Row, query_id: str, system: str, places: list[str | None]) -> Response:
        """An answer, and what each of its sentences cites: what it says, or all contexts
        together."""
        if isinstance(row.answer, list):
            own_ids = {each.own_id: at for each, at in zip(row.contexts, places, strict=True)}
            sentences = [str(part.get("text") or "") for part in row.answer]
            text = " ".join(map(str.strip, sentences)).strip()
            cited = [
                [own_ids.get(each.cited_passage_id) or each.cited_passage_id for each in stated]
                for number, part in enumerate(row.answer, start=1)
                for stated in [citations_of(part.get("citations"), number, places)]
            ]
        else:
            text = row.answer or ""
            sentences = sentences_of(text)
            cited = [_marked(sentence, places) if self.marks else [] for sentence in sentences]
            self.counts["have an answer that cites by marks such as [1]"] += any(cited)
        if not any(cited) and (found := list(dict.fromkeys(filter(None, places)))):
            cited = [self._together(row, found)] * len(sentences)
        self.counts["have an empty answer, which scores 0"] += not text
        citations = [
            Citation(number, nth, own_id)
            for number, of_sentence in enumerate(cited if text else [], start=1)
            for nth, own_id in enumerate(of_sentence, start=1)
        ]
        return Response(system, query_id, text, row.line, sentences, citations)

    def _together(self, row: Row, found: list[str]) -> list[str]:
        """The passage that holds all contexts of a row, so that one request shows them all; each by
        itself where the log has no texts but ids."""
        text = "\n\n".join(dict.fromkeys(each.text for each in row.contexts if each.text))
        if len(found) == 1 or not text:
            return found
        own_id = passage_id(text)
        self.texts.setdefault(own_id, (own_id, text, None, "contexts"))
        return [own_id]


def _marked(sentence: str, places: list[str | None]) -> list[str]:
    """What the marks of a sentence cite, counted from 1; a mark itself where it is no context's."""
    numbers: list[int] = []
    for mark in re.findall(_MARK, sentence):
        for part in re.split("[,;]", mark[1:-1]):
            first, *last = (int(number) for number in re.split("[–-]", part))  # noqa: RUF001
            numbers += range(first, (last or [first])[-1] + 1)
    if 0 in numbers:
        raise ValueError("the answer cites [0], but marks count from 1 (--no-marks: they are none)")
    by_number = dict(enumerate(places, start=1))
    return list(dict.fromkeys(by_number.get(number) or f"[{number}]" for number in numbers))


def sentences_of(text: str) -> list[str]:
    """The sentences of an answer, with the marks behind them; each line is one at least."""
    return [text[start:end] for start, end in parts_of(text, 0, len(text), _SENTENCE_END)]
