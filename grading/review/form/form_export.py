"""`gradelake export review`: a deck as one HTML file, in which an assessor reviews blind."""

import json
from importlib.resources import files
from typing import Any

from gradelake.grading.review.cards import Assignment, Card, Deck, passage_texts
from gradelake.grading.review.guidelines import guidelines_of
from gradelake.sql.common import page_policy
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.hashes import text_sha256
from gradelake.sql.lake.opening import Lake

FORMAT = "gradelake review answers 1"


def make_form(lake: Lake, assignment: Assignment, deck: Deck) -> tuple[str, int]:
    """The page of a blind assignment, and how many cards it has. It holds no grade and no answer of
    the grader, nor what others think. The same cards give the same page.

    Raises `BadInput` when the assessor has reviewed everything.
    """
    collection, grader = assignment.collection, assignment.grader
    assessor = assignment.assessor
    texts = passage_texts(lake, collection, deck.cards)
    cards = [card for card in deck.cards if card.passage_id in texts]
    if not cards:
        raise BadInput(
            f"{assessor} has reviewed all of these grades",
            "Ask for more of them: another --seed, a greater --sample, another --grader.",
        )
    dealt = [_shown(card, texts) | {"turned": grader.turns(card, assessor)} for card in cards]
    deck_id = _hash([[card["id"], card["item"]] for card in dealt])
    about = {
        "format": FORMAT,
        "form": form_id(collection, grader.grader_id, assessor, deck_id),
        "deck": deck_id,
        "collection": collection,
        "grader": grader.name,
        "grader_id": grader.grader_id,
        "assessor": assessor,
        "title": f"Review of {collection}, by {assessor}",
        "kind": grader.kind,
        **grader.for_cards,
    }
    passages = {passage_id: text for passage_id, (text, _) in texts.items()}
    guidelines = guidelines_of(lake.project, collection)
    return _page(about, dealt, passages, guidelines), len(dealt)


def form_id(collection: str, grader_id: str, assessor: str, deck: str) -> str:
    """What a form is known by, in the browser and in its answers."""
    return _hash([collection, grader_id, assessor, deck])[:32]


def _hash(value: Any) -> str:
    return text_sha256(json.dumps(value))


def _shown(card: Card, texts: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """A card as the page has it; the hashes are of the texts that it shows."""
    ids = card.ids | {
        "passage_sha256": texts[card.passage_id][1],
        "query_sha256": text_sha256(card.query),
    }
    about = {"query": card.query, "item": card.item, "passage": card.passage_id}
    if not card.item:
        about |= {"description": card.description, "narrative": card.narrative}
    return {"id": _hash(list(ids.values()))[:32], **ids, **about}


def _page(
    about: dict[str, Any],
    cards: list[dict[str, Any]],
    passages: dict[str, str],
    guidelines: str | None,
) -> str:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["source"] = page_policy.source
    return environment.from_string(_part("form.html.jinja")).render(
        title=about["title"],
        assessor=about["assessor"],
        guidelines=guidelines,
        style=_part("card.css") + _part("form.css"),
        script=_part("card.js") + _part("form.js"),
        data={  # in ASCII that can end no element and begin none
            name: json.dumps(value).replace("<", "\\u003c")
            for name, value in (("about", about), ("cards", cards), ("passages", passages))
        },
    )


def _part(name: str) -> str:
    return (files("gradelake.grading.review.form") / name).read_text(encoding="utf-8")
