"""A rubric bank's items: what a file says of one, what becomes of it, and what is odd about it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gradelake.ingest.reading.csv_tables import finite_number
from gradelake.sql.common.problems import SHOWN, Problem
from gradelake.sql.common.rubric_items import KIND, KINDS, OF_CRITERIA, item_id_of


class Place(NamedTuple):
    """Where an item stands in a file, which `name` tells a person: `item 3`."""

    findings: "Findings"
    line: int | None
    name: str

    def note(self, kind: str, what: str) -> None:
        """Something about it that is worth a look; `what` follows its name."""
        self.findings.note(kind, self.line, f"{self.name}{what}")

    def leave_out(self, kind: str, why: str) -> None:
        self.findings.leave_out(kind, self.line, f"{self.name} is left out: {why}")


class Draft(NamedTuple):
    """An item as a file has it, unchecked."""

    place: Place
    query_id: Any
    kind: Any
    text: Any
    facet_id: Any = None
    item_id: Any = None
    gold_answers: Any = None
    weight: Any = None
    follows_scheme: bool = True  # False: the format has ids of its own kind
    bank: dict[str, Any] | None = None  # objects of the file, which an export gives back
    source: dict[str, Any] | None = None


class Item(NamedTuple):
    """An item that can go into the lake; `facet_id` is '' when its query has no facets."""

    line: int | None
    query_id: str
    facet_id: str
    item_id: str
    kind: str
    text: str
    gold_answers: list[str] | None
    weight: float


# kind of oddity -> its problems, each once, in the order found
Groups = dict[str, dict[Problem, None]]


@dataclass
class Findings:
    """What is odd about a bank, by kind: `left_out` is not in the lake, `notes` came along."""

    file: str
    left_out: Groups = field(default_factory=dict)
    notes: Groups = field(default_factory=dict)
    n_left_out: int = 0
    kept: dict[int, Any] = field(default_factory=dict)  # as they came: `bank_lines.Lines`

    def note(self, kind: str, line: int | None, message: str) -> None:
        """Something worth a look, kept as it is. The same message of one line counts once."""
        self._add(self.notes, kind, line, message)

    def leave_out(self, kind: str, line: int | None, message: str, n: int = 1) -> None:
        """Something that `n` items (0: nothing that could be counted) are left out for."""
        self._add(self.left_out, kind, line, message)
        self.n_left_out += n

    def _add(self, groups: Groups, kind: str, line: int | None, message: str) -> None:
        problem = Problem(self.file, line, message)
        groups.setdefault(kind, {})[problem] = None

    def lines(self, groups: Groups) -> Iterator[str]:
        """Each kind's first problems, and how many more there are."""
        for group in groups.values():
            ordered = sorted(group, key=lambda problem: problem.line or 0)
            yield from map(str, ordered[:SHOWN])
            if len(ordered) > SHOWN:
                yield f"{self.file}: and {len(ordered) - SHOWN:,} more like these"


def settle(draft: Draft) -> Item | None:
    """The item a draft stands for; None, with a finding, when that is not clear."""
    leave_out = draft.place.leave_out
    query_id = _id(draft.query_id, "query id", draft.place)
    facet_id = _id(draft.facet_id, "facet id", draft.place)
    stated_id = _id(draft.item_id, "item id", draft.place)
    if query_id == "":
        return leave_out("query", "it names no query")
    if query_id is None:
        return leave_out("query", f"query id {_shown(draft.query_id)} is not an id")
    if facet_id is None:
        return leave_out("facet", f"facet id {_shown(draft.facet_id)} is not an id")
    if stated_id is None:
        return leave_out("id", f"item id {_shown(draft.item_id)} is not an id")
    if not isinstance(draft.text, str):
        return leave_out("text", f"its text is {_shown(draft.text)}, not text")
    if not (text := draft.text.strip()):
        return leave_out("text", "its text is empty")
    if not re.fullmatch(KIND, draft.kind or ""):
        return leave_out("kind", f"kind {_shown(draft.kind)} is not {KINDS}")
    weight = 1.0 if draft.weight is None else finite_number(draft.weight)
    if weight is None or (weight < 0 and not draft.kind.startswith(OF_CRITERIA)):
        wanted = "not a number" if weight is None else "negative"
        return leave_out("weight", f"weight {_shown(draft.weight)} is {wanted}")
    answers = _answers(draft.gold_answers)
    if answers is None:
        return leave_out("answers", f"gold answers {draft.gold_answers!r} are not a list of texts")
    if "\0" in "".join([query_id, facet_id, stated_id, text, *answers]):
        return leave_out("text", "it holds a null character, which no file of text may")
    expected = item_id_of(query_id, facet_id, text)
    if stated_id and draft.follows_scheme and stated_id != expected:
        _note_other_id(draft.place, stated_id, expected, text)
    return Item(
        draft.place.line,
        query_id,
        facet_id,
        stated_id or expected,
        draft.kind,
        text,
        answers or None,
        weight,
    )


def _note_other_id(place: Place, stated: str, expected: str, text: str) -> None:
    """Stated ids are kept: the grades that others made name them."""
    if stated.endswith(expected.rsplit("/", 1)[1]):
        why = f"is not written as query_id[/facet_id]/md5 ({expected!r})"
    else:
        why = f"is not the md5 of its text {text!r}; if the text was changed, remove the id"
    place.note("id", f": id {stated!r} {why}. Kept: grades name it")


def _id(value: Any, what: str, place: Place) -> str | None:
    """An id as text, '' where there is none; None for what cannot be an id."""
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        place.findings.note("number", place.line, f"{what} {value} is a number: read as text")
        return str(value)
    return value.strip() if isinstance(value, str) else None


def _answers(value: Any) -> list[str] | None:
    """Accepted answers, stripped, each once; None when they are not texts."""
    if value is None:
        return []
    values = value if isinstance(value, list) else [value]
    if any(isinstance(v, bool) or not isinstance(v, str | int | float) for v in values):
        return None
    return list(dict.fromkeys(answer for v in values if (answer := str(v).strip())))


def _shown(value: Any) -> str:
    return "missing" if value is None else repr(value)
