"""What `[collections.NAME.engines.ENGINE]` of gradelake.toml says: how an engine is asked, and
where in its answer the hits are."""

import json
import re
from array import array
from itertools import pairwise
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, Field

from gradelake.ingest.reading.csv_tables import finite_number
from gradelake.sql.common.checked import Checked, Name, Text, one_of
from gradelake.sql.common.files import parse_json

_SLOT = re.compile(r"\{(query|query_id|depth)\}")
_STEP = re.compile(r"\.?(?P<key>[^.\[\]]+)|\[(?P<place>\d+)\]|\[\*\]")
_HEADERS = 'For example: headers = { Authorization = "env:SHOP_TOKEN" }.'
_DEEPEST = 10_000
_MOST_AT_ONCE = 256


def _address(url: str) -> str:
    parts = urlsplit(url)
    is_plain = url.isascii() and url.isprintable() and " " not in url and "{" not in parts.netloc
    if not (is_plain and parts.scheme in ("http", "https") and parts.hostname):
        raise ValueError("is not an address", 'E.g. "https://HOST/search?q={query}".')
    if parts.username or parts.password:
        raise ValueError("it holds a password", f"Secrets come from the environment. {_HEADERS}")
    if unknown := re.search(r"\{.*?\}", _SLOT.sub("", url)):
        hint = "Slots are {query}, {query_id} and {depth}."
        raise ValueError(f"there is no slot {unknown[0]}", hint)
    return url


def _body(body: str) -> str:
    try:
        json.loads(_SLOT.sub("1", body))
    except ValueError as error:
        hint = 'Slots of texts stand in quotes: "{query}".'
        raise ValueError(f"is not JSON once its slots are filled: {error}", hint) from None
    return body


def _from_environment(value: str) -> str:
    if not re.fullmatch(r"env:\w+", value):  # which may be a secret: it is not repeated
        raise ValueError("must name a variable of the environment", _HEADERS)
    return value.removeprefix("env:")


def _path(path: str) -> str:
    steps_of(path)
    return path


_Address = Annotated[str, AfterValidator(_address)]
_Body = Annotated[str, AfterValidator(_body)]
_Variable = Annotated[str, AfterValidator(_from_environment)]
_Path = Annotated[Text, AfterValidator(_path)]


class Hit(NamedTuple):
    """A passage that an engine found; `text` is None where its answer has none."""

    passage_id: str
    rank: int
    score: float
    text: str | None


class SearchEngine(Checked):
    """How a search engine is asked, and how its answers are read."""

    url: _Address
    method: Annotated[str, one_of(("GET", "POST"))] | None = None  # POST where there is a body
    body: _Body | None = None
    headers: dict[Name, _Variable] = Field({}, description=_HEADERS)
    hits: _Path
    id: _Path
    score: _Path | None = None
    title: _Path | None = None
    text: _Path | None = None
    depth: int = Field(20, ge=1, le=_DEEPEST)
    per_second: float = Field(5.0, gt=0)
    concurrency: int = Field(4, ge=1, le=_MOST_AT_ONCE)
    timeout: float = Field(30.0, gt=0)

    def request(self, query_id: str, query: str) -> dict[str, str | None]:
        """What is sent to ask a query, but for the headers."""
        values = {"query": query, "query_id": query_id, "depth": str(self.depth)}
        url = _SLOT.sub(lambda slot: quote(values[slot[1]], safe=""), self.url)
        body = self.body and _SLOT.sub(lambda slot: json.dumps(values[slot[1]])[1:-1], self.body)
        return {"method": self.method or ("POST" if body else "GET"), "url": url, "body": body}

    def hits_of(self, answer: str) -> list[Hit]:
        """The passages of an answer in its order, each once, `depth` at most. Raises `ValueError`.

        A lake ranks by score. So the scores are the stated ones where these fall from hit to hit,
        as 32-bit numbers; else minus the rank.
        """
        try:
            whole = parse_json(answer)
        except ValueError as error:
            raise ValueError(f"the answer is not JSON: {error}") from None
        found = values_at(whole, self.hits)
        if len(found) == 1 and isinstance(found[0], list):
            found = found[0]
        if not found and (errors := errors_on_the_way(whole, self.hits)):
            said = json.dumps(errors[0], ensure_ascii=False)
            raise ValueError(f"the answer is an error: {said:.500}")
        hits: dict[str, dict[str, Any]] = {}
        for n, hit in enumerate(found[: self.depth], start=1):
            ids = values_at(hit, self.id)
            if len(ids) != 1 or type(ids[0]) not in (str, int):
                there = f"its keys are {', '.join(hit)}" if isinstance(hit, dict) else repr(hit)
                raise ValueError(f"hit {n} has no id at {self.id!r}: {there:.200}")
            hits.setdefault(str(ids[0]), hit)
        scores = [self._score(hit) for hit in hits.values()]
        if not all(above > below for above, below in pairwise([float("inf"), *array("f", scores)])):
            scores = [-float(rank) for rank in range(1, len(hits) + 1)]
        ranked = enumerate(zip(hits.items(), scores, strict=True), start=1)
        return [Hit(id_, rank, score, self._text(hit)) for rank, ((id_, hit), score) in ranked]

    def _score(self, hit: Any) -> float:
        found = values_at(hit, self.score) if self.score else []
        number = finite_number(found[0]) if found and not isinstance(found[0], str) else None
        return float("nan") if number is None else number

    def _text(self, hit: Any) -> str | None:
        parts = [_joined(values_at(hit, path)) for path in (self.title, self.text) if path]
        return "\n".join(filter(None, parts)) or None


def steps_of(path: str) -> list[str | int | None]:
    """The steps of a JSONPath of dots, [n] and [*]: a key, a place, or None for all.

    Raises `ValueError`.
    """
    steps: list[str | int | None] = []
    rest = path.removeprefix("$")
    while rest:
        step = _STEP.match(rest)
        if not step:
            raise ValueError(f"{path!r} is not a path", 'E.g. "$.hits.hits[*]", "fields.title[0]".')
        place = step["place"]
        steps.append(int(place) if place else step["key"])
        rest = rest[step.end() :]
    return steps


def values_at(value: Any, path: str) -> list[Any]:
    """What stands at a path, but for nulls; nothing where there is no such key or place."""
    found = [value]
    for step in steps_of(path):
        if step is None:
            found = [each for some in found if isinstance(some, list) for each in some]
        elif isinstance(step, int):
            found = [each[step] for each in found if isinstance(each, list) and step < len(each)]
        else:
            found = [each[step] for each in found if isinstance(each, dict) and step in each]
    return [each for each in found if each is not None]


def errors_on_the_way(value: Any, path: str) -> list[Any]:
    """What objects that a path leads through say in `error` or `errors`, but for what is empty."""
    errors = []
    for step in [*steps_of(path), None]:
        if not isinstance(value, dict):
            break
        errors += [value[key] for key in ("error", "errors") if value.get(key)]
        value = value.get(step)
    return errors


def _joined(values: list[Any]) -> str:
    """Texts as one; a list among them, as of a field with several values, is texts, too."""
    flat = (each for value in values for each in (value if isinstance(value, list) else [value]))
    return " ".join(str(each).strip() for each in flat if isinstance(each, str | int | float))
