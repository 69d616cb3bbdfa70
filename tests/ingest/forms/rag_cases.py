"""What the folders of RAG tools hold: questions of a shop's customers, as two versions saw them."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Case:
    """A question, what was retrieved and said, what a good answer says, and what was said before
    (a user's turn and an assistant's)."""

    question: str
    contexts: tuple[str, ...]
    answer: str
    reference: str
    before: tuple[str, str]


@dataclass(frozen=True)
class Folder:
    """A form: what writes it, and what is in the lake once it is in.

    `contexts` are those of all rankings together, `references` and `histories` questions that have
    one. `commands`: how many commands bring it in; `not_used`: files of which nothing is.
    """

    write: Callable[[Path], None]
    systems: tuple[str, ...]
    questions: int
    contexts: int
    answers: int
    references: int = 0
    histories: int = 0
    commands: int = 2
    not_used: tuple[str, ...] = ()


# What is known, a passage each. Texts have the characters that tables and lists stumble over.
RETURNS = 'Returns are free within 30 days; after that, a "restocking fee" of 5 % applies.'
SHIPPING = "Parcels leave our warehouse within one day, and take two more to arrive."
ABROAD = "We don't ship to islands, but to all of the mainland, Norway and Switzerland."
HELMETS = "Helmets are sold in the sizes S, M and L; measure the head above the ears."
REPAIRS = "The workshop repairs bicycles of every make; book a date by telephone."
GIFTS = "Gift cards [paper or PDF] are valid for three years, and cannot be paid out."
LIGHTS = "Lights with a dynamo need no batteries.\nThey stay on for a minute at a stop."
LOCKS = "A lock of level 3 is what most insurers ask for | level 2 is for short stops."

_KNOWN = (
    (
        "How long may I return a helmet?",
        (RETURNS, HELMETS),
        "You may return it within 30 days.",
        "Returns are free within 30 days.",
        ("I bought a helmet last week.", "How does it fit?"),
    ),
    (
        "When does my parcel arrive?",
        (SHIPPING, ABROAD),
        "It takes about three days.",
        "A parcel arrives after three days.",
        ("Hello, I have paid just now.", "Thank you, the order is here."),
    ),
    (
        "Do you ship to Norway?",
        (ABROAD, SHIPPING),
        "Yes, to all of Norway.",
        "The shop ships to Norway.",
        ("I live in Bergen.", "A fine town."),
    ),
    (
        "Which size of helmet do I need?",
        (HELMETS, RETURNS),
        "Measure your head above the ears.",
        "Sizes go by the head, measured above the ears.",
        ("Is a helmet a must?", "It isn't, but we would wear one."),
    ),
    (
        "Can you repair my old bicycle?",
        (REPAIRS, LIGHTS),
        "Yes, book a date by telephone.",
        "The workshop repairs every make.",
        ("My bicycle is forty years old.", "They made them well."),
    ),
    (
        "Is a gift card paid out?",
        (GIFTS, RETURNS),
        "No, but it is valid for three years.",
        "A gift card cannot be paid out.",
        ("I was given a gift card.", "How nice!"),
    ),
    (
        "Do lights need batteries, and do they stay on?",
        (LIGHTS, LOCKS),
        "Those with a dynamo don't, and they stay on for a minute.",
        "Lights with a dynamo need no batteries.",
        ("It gets dark early.", "It does."),
    ),
)
V1 = [Case(*each) for each in _KNOWN]
# a newer version finds a passage more, and says more
V2 = [
    Case(
        case.question,
        (*case.contexts, LOCKS if LOCKS not in case.contexts else GIFTS),
        f"{case.answer} Ask us if you want to know more.",
        case.reference,
        case.before,
    )
    for case in V1
]
VERSIONS = {"v1": V1, "v2": V2}
N = len(V1)


def counted(
    write: Callable[[Path], None],
    systems: tuple[str, ...] = ("v1", "v2"),
    contexts: int | None = None,
    references: int = N,
    **others: Any,
) -> Folder:
    """A folder of both versions, with all that they hold unless the form has less."""
    found = sum(len(case.contexts) for cases in (V1, V2) for case in cases)
    return Folder(
        write, systems, N, found if contexts is None else contexts, 2 * N, references, **others
    )


def as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as Python's and pandas' writers put them: lists by their `repr`."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
