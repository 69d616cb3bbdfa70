"""Traces by OpenTelemetry's GenAI conventions: each one is a question, contexts and an answer.

Read are `gen_ai.input.messages`, `gen_ai.output.messages`, `gen_ai.retrieval.documents` and
`gen_ai.retrieval.query.text` (v1.37 and later), from spans as SDKs write them, one a line, or from
lines of OTLP JSON, as the collector's file exporter writes them.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from gradelake.sql.common import files
from gradelake.sql.common.problems import Problems

_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_DOCUMENTS, _QUERY = "gen_ai.retrieval.documents", "gen_ai.retrieval.query.text"


def is_trace(row: dict[str, Any]) -> bool:
    """Whether a line holds a span, or several."""
    return "resourcespans" in row or ("attributes" in row and _trace_of(row) is not None)


def rows(
    objects: Iterable[tuple[int, dict[str, Any]]], problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, row of a log) of each trace that asks a model; other traces have none.

    The question is what was first retrieved with, or else the last that a user said to the first
    model; the answer is the last text that a model put out.
    """
    traces: dict[str, list[tuple[str, int, dict[str, Any]]]] = {}
    for line, row in objects:
        try:
            for span in _spans(row):
                start = str(span.get("starttimeunixnano") or span.get("start_time") or "")
                attributes = _attributes(span.get("attributes"))
                traces.setdefault(_trace_of(span) or "", []).append((start, line, attributes))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            problems.add(line, f"not a span that can be read: {error!r}")
    found, has_output = [], False
    for spans in traces.values():
        spans.sort(key=lambda each: each[:2])
        held = [attributes for *_, attributes in spans]
        if not any(each.keys() & {_INPUT, _OUTPUT, _DOCUMENTS, _QUERY} for each in held):
            continue
        line = min(line for _, line, _ in spans)
        try:
            said = [*_texts(held, _OUTPUT, "assistant")]
            asked = [each[_QUERY] for each in held if each.get(_QUERY)]
            asked += [texts[-1] for each in held if (texts := [*_texts([each], _INPUT, "user")])]
            contexts = [doc for each in held for doc in _parsed(each.get(_DOCUMENTS))]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            problems.add(line, f"messages or documents that cannot be read: {error!r}")
            continue
        has_output = has_output or any(_OUTPUT in each for each in held)
        answer = said[-1] if said else ""  # a call that failed put nothing out
        question = asked[0] if asked else ""
        found.append((line, {"question": question, "answer": answer, "contexts": contexts}))
    if not has_output:
        problems.add(None, f"no trace has {_OUTPUT}: content was not captured")
    yield from sorted(found, key=lambda each: each[0])


def _texts(held: list[dict[str, Any]], name: str, role: str) -> Iterator[str]:
    """What somebody says in messages, a text for each."""
    for attributes in held:
        for message in _parsed(attributes.get(name)):
            if message["role"] == role:
                parts = [part for part in message["parts"] if part.get("type") == "text"]
                if text := "".join(part["content"] for part in parts).strip():
                    yield text


def _parsed(value: Any) -> list[Any]:
    """Messages and documents: as they are, or as JSON text."""
    return files.parse_json(value) if isinstance(value, str) else value or []


def _spans(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Spans of a line, their keys in lower case as those of the line are."""
    if "resourcespans" not in row:
        yield row
        return
    for resource in row["resourcespans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                yield {key.lower(): value for key, value in span.items()}


def _trace_of(span: dict[str, Any]) -> str | None:
    context = span.get("context")
    inner = context.get("trace_id") if isinstance(context, dict) else None
    return span.get("traceid") or span.get("trace_id") or inner


def _attributes(stated: Any) -> dict[str, Any]:
    if isinstance(stated, list):
        return {each["key"]: _value(each["value"]) for each in stated}
    return stated or {}


def _value(value: dict[str, Any]) -> Any:
    """A value of OTLP JSON: `{"stringValue": "..."}`."""
    ((kind, held),) = value.items()
    if kind == "arrayValue":
        return [_value(each) for each in held.get("values", [])]
    return _attributes(held.get("values", [])) if kind == "kvlistValue" else held
