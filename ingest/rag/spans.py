"""Spans of traces, as each tool writes them, in one form.

Read are spans of OpenTelemetry, as SDKs write them or in OTLP JSON, by the GenAI conventions
(content on spans or on their events) and by OpenInference's, which Phoenix uses; runs of LangSmith;
and traces of Langfuse with their observations.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gradelake.ingest.mapping.paths import opened
from gradelake.ingest.rag.turns import is_conversation, last_said, turns_of
from gradelake.ingest.reading.lists import list_of
from gradelake.sql.common import files

# attributes that hold the same, by the conventions of the time
_ASKED = ("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt", "input.value")
_SAID = ("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion", "output.value")
_DOCUMENTS = ("gen_ai.retrieval.documents", "retrieval.documents")
_QUERY = "gen_ai.retrieval.query.text"
_ALL = (*_ASKED, *_SAID, *_DOCUMENTS, _QUERY)
_LISTED = re.compile(rf"({'|'.join(map(re.escape, _ALL))})\.(\d{{1,6}})\.(.+)")
_MESSAGE = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
# what objects call what was asked and what was said
_QUESTIONS = (
    "question",
    "user_input",
    "input",
    "query",
    "messages",
    "message",
    "prompt",
    "args",
    "text",
)
_ANSWERS = ("answer", "response", "output", "result", "messages", "content", "text", "generations")
_FOUND = ("documents", "source_nodes", "nodes", "results", "output")
_OF_OBSERVATION = {"traceid", "type", "input", "output"}
_BESIDE = ("context", "contexts", "documents", "source_documents", "retrieved_documents")


class Span(NamedTuple):
    """A step of a trace. `asked` are messages, `documents` what it found (None: it searched
    nothing), `query` what it searched with; `beside`: documents that it put out with its answer;
    `scores`: of what it put out."""

    trace: str
    own_id: str
    parent: str
    start: str
    line: int
    asked: list[Any]
    answer: str
    query: str = ""
    documents: list[Any] | None = None
    beside: list[Any] | None = None
    scores: Any = None


def is_trace(row: dict[str, Any]) -> bool:
    """Whether a row holds a span, or several."""
    return (
        "resourcespans" in row
        or "context.trace_id" in row
        or row.keys() >= {"run_type", "trace_id"}
        or isinstance(row.get("observations"), list)
        or _plain(row).keys() >= _OF_OBSERVATION
        or ("attributes" in row and bool(_trace_of(row)))
    )


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """An observation of Langfuse by names without bars: some exports have `traceId`, others
    `trace_id`."""
    return {key.lower().replace("_", ""): value for key, value in row.items()}


def spans_of(line: int, row: dict[str, Any]) -> Iterator[Span]:
    """The spans that a row holds. Raises `AttributeError`, `KeyError`, `TypeError` or `ValueError`
    for what cannot be read."""
    if "run_type" in row:
        yield _of_langsmith(line, row)
        for child in row.get("child_runs") or ():
            yield from spans_of(line, child)
    elif "observations" in row:
        yield from _of_langfuse(line, row)
    elif _plain(row).keys() >= _OF_OBSERVATION and "attributes" not in row:
        lower = _plain(row)
        yield _of_observation(line, lower, str(lower["traceid"]), "")
    elif "resourcespans" in row:
        for resource in row["resourcespans"]:
            for scope in resource.get("scopeSpans") or ():
                for span in scope["spans"]:
                    lower = {key.lower(): value for key, value in span.items()}
                    yield _of_opentelemetry(line, lower)
    else:
        yield _of_opentelemetry(line, row)


def _of_opentelemetry(line: int, span: dict[str, Any]) -> Span:
    held = _attributes(span.get("attributes"))
    prefix = "attributes."
    held |= {key.removeprefix(prefix): span[key] for key in span if key.startswith(prefix)}
    for event in span.get("events") or ():
        held |= _of_event(event, held)
    held = _gathered(held)
    found = next((_parsed(held[name]) for name in _DOCUMENTS if held.get(name)), None)
    kind = str(held.get("openinference.span.kind") or "")
    retrieves = found is not None or kind == "RETRIEVER" or bool(held.get(_QUERY))
    is_search = retrieves or kind == "RERANKER"
    context = span.get("context") or {}
    own_id = span.get("spanid") or span.get("span_id") or span.get("context.span_id")
    return Span(
        _trace_of(span),
        str(own_id or context.get("span_id") or ""),
        str(span.get("parentspanid") or span.get("parent_id") or span.get("parent_span_id") or ""),
        str(span.get("starttimeunixnano") or span.get("start_time") or ""),
        line,
        [] if is_search else _first(held, _ASKED, asked_in),
        "" if is_search else _first(held, _SAID, said_in) or "",
        str(held.get(_QUERY) or (_searched(held.get("input.value")) if is_search else "")),
        [*map(_document, found or ())] if retrieves else None,
    )


def _first(held: dict[str, Any], names: tuple[str, ...], read: Any) -> Any:
    """What is read from the first attribute that says something."""
    found: Any = []
    for name in names:
        if held.get(name) and (found := read(held[name])):
            break
    return found


def _of_event(event: dict[str, Any], held: dict[str, Any]) -> dict[str, Any]:
    """What an event says, as attributes of its span: all messages, or one in the older forms."""
    name, stated = str(event.get("name") or ""), _attributes(event.get("attributes"))
    content = stated.get("gen_ai.event.content", stated)
    content = _parsed(content) if isinstance(content, str) else content
    if message := _MESSAGE.fullmatch(name):
        own = content if isinstance(content, dict) else {"content": content}
        return {_ASKED[0]: [*_parsed(held.get(_ASKED[0])), {"role": message[1], **own}]}
    if name == "gen_ai.choice":
        own = content.get("message", content) if isinstance(content, dict) else content
        own = _parsed(own) if isinstance(own, str) and own.startswith("{") else own
        own = own if isinstance(own, dict) else {"content": own}
        return {_SAID[0]: [{"role": "assistant", **own}]}
    return {key: value for key, value in stated.items() if _is_read(key)}


def _is_read(key: str) -> bool:
    return key in _ALL or bool(_LISTED.fullmatch(key))


def _gathered(held: dict[str, Any]) -> dict[str, Any]:
    """Attributes, with `NAME.0.message.content` and its like as a list of objects under NAME."""
    lists: dict[str, dict[int, dict[str, Any]]] = {}
    for key, value in held.items():
        if found := _LISTED.fullmatch(key):
            lists.setdefault(found[1], {}).setdefault(int(found[2]), {})[found[3]] = value
    made = {name: [parts[n] for n in sorted(parts)] for name, parts in lists.items()}
    return held | made


def _of_langsmith(line: int, run: dict[str, Any]) -> Span:
    given, put_out = (opened(run.get(name)) or {} for name in ("inputs", "outputs"))
    is_search = run["run_type"] == "retriever"
    return Span(
        str(run["trace_id"]),
        str(run.get("id") or ""),
        str(run.get("parent_run_id") or ""),
        str(run.get("start_time") or ""),
        line,
        [] if is_search else asked_in(given),
        "" if is_search else said_in(put_out),
        _searched(given) if is_search else "",
        _documents_in(put_out) if is_search else None,
        _documents_in(put_out, _BESIDE),
        run.get("feedback_stats"),
    )


def _of_langfuse(line: int, trace: dict[str, Any]) -> Iterator[Span]:
    """A trace, which is what the user saw, and its observations within it."""
    own_id = str(trace.get("id") or line)
    asked, put_out = asked_in(trace.get("input")), trace.get("output")
    beside = _documents_in(put_out, _BESIDE)
    start = str(trace.get("timestamp") or "")
    answer, scores = said_in(put_out), trace.get("scores")
    yield Span(own_id, own_id, "", start, line, asked, answer, beside=beside, scores=scores)
    for each in trace["observations"]:
        if isinstance(each, dict):  # a list of traces has only their ids
            lower = {key.lower(): value for key, value in each.items()}
            yield _of_observation(line, lower, own_id, own_id)


def _of_observation(line: int, step: dict[str, Any], trace: str, parent: str) -> Span:
    """A step of Langfuse; `parent`: of one that has none of its own."""
    given, put_out = step.get("input"), step.get("output")
    is_search = "RETRIEV" in f"{step.get('type')} {step.get('name')}".upper()
    return Span(
        trace,
        str(step.get("id") or ""),
        str(step.get("parentobservationid") or parent),
        str(step.get("starttime") or ""),
        line,
        [] if is_search else asked_in(given),
        "" if is_search else said_in(put_out),
        _searched(given) if is_search else "",
        _documents_in(put_out) if is_search else None,
    )


def asked_in(value: Any) -> list[Any]:
    """The messages of what a step was given: a text is a user's."""
    value = opened(value)
    if isinstance(value, str):
        return [{"role": "user", "content": value}] if value.strip() else []
    if isinstance(value, list):
        if is_conversation(value):
            return value
        return asked_in(value[0]) if value else []  # a batch, or arguments of a function
    if isinstance(value, dict):
        if is_conversation([value]):
            return [value]
        within = (asked_in(value[name]) for name in _QUESTIONS if value.get(name))
        return next((found for found in within if found), []) or asked_in(value.get("kwargs"))
    return []


def _searched(given: Any) -> str:
    """What an index was asked with: a text, or the one within an object."""
    return turns_of(asked_in(given)).question


def answer_in(value: Any) -> Any:
    """The answer within an object, or within a text that is one in JSON; else what was given."""
    held = opened(value)
    return said_in(held) if isinstance(held, dict) and held.keys() & {*_ANSWERS} else value


def said_in(value: Any) -> str:
    """The text of what a step put out."""
    value = opened(value)
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return last_said(value) if is_conversation(value) else said_in(value[-1]) if value else ""
    if isinstance(value, dict):
        if is_conversation([value]):
            return last_said([value])
        within = (said_in(value[name]) for name in _ANSWERS if value.get(name))
        return next((found for found in within if found), "")
    return ""


def _documents_in(value: Any, names: tuple[str, ...] = ()) -> list[Any]:
    """What a search found: a list, or one within an object; with `names`, one within an object that
    is called so."""
    value = opened(value)
    if isinstance(value, dict):
        held = (value[name] for name in names or _FOUND if isinstance(value.get(name), list))
        value = next(held, [])
    elif names:
        return []
    return [*map(_document, value)] if isinstance(value, list) else []


def _document(stated: Any) -> Any:
    """A context as logs have it; LlamaIndex and OpenInference have it within another object."""
    if not isinstance(stated, dict):
        return stated
    held = next((stated[name] for name in ("document", "node") if name in stated), stated)
    held = {key.removeprefix("document."): value for key, value in held.items()}
    held = {"score": stated.get("score"), **held}
    return {key: value for key, value in held.items() if value is not None}


def _parsed(value: Any) -> Any:
    """Messages and documents: as they are, or as a text that holds a list."""
    if not isinstance(value, str):
        return value or []
    found = list_of(value)
    return files.parse_json(value) if found is None else found


def _trace_of(span: dict[str, Any]) -> str:
    context = span.get("context")
    inner = context.get("trace_id") if isinstance(context, dict) else None
    found = span.get("traceid") or span.get("trace_id") or span.get("context.trace_id") or inner
    return str(found or "")


def _attributes(stated: Any) -> dict[str, Any]:
    if isinstance(stated, list):
        return {each["key"]: _value(each["value"]) for each in stated}
    if isinstance(stated, str):
        stated = files.parse_json(stated)
    return _flat(stated or {})


def _flat(stated: dict[str, Any]) -> dict[str, Any]:
    """Attributes by their whole names, where they stand as objects within objects, too."""
    found = dict(stated)
    for key, value in stated.items():
        if isinstance(value, dict):
            found |= {f"{key}.{inner}": held for inner, held in _flat(value).items()}
    return found


def _value(value: dict[str, Any]) -> Any:
    """A value of OTLP JSON: `{"stringValue": "..."}`."""
    ((kind, held),) = value.items()
    if kind == "arrayValue":
        return [_value(each) for each in held.get("values", [])]
    return _attributes(held.get("values", [])) if kind == "kvlistValue" else held
