"""The shapes of rubric banks in JSON. Each reader yields drafts and reports what it cannot read.

The line of a place is that of the object it stands in.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from gradelake.ingest.banks.bank_items import Draft, Findings, Place
from gradelake.ingest.banks.bank_json import line_of
from gradelake.sql.common.rubric_items import WEIGHTS

# The weighted score of AutoNuggetizer counts a vital nugget 1 and an okay one 0.5; the nuggetizer
# takes 'okay' where its own labelling failed.
IMPORTANCE = {"vital": 1.0, "okay": 0.5, "failed": 0.5}

Reader = Callable[[int | None, dict, Findings], Iterator[Draft]]


def format_of(bank: Any) -> str | None:
    """Which format an object is in, from its keys; None when it is not a bank."""
    if not isinstance(bank, dict):
        return None
    if "nugget_bank" in bank or "claim_bank" in bank:
        return "argue"
    if "items" in bank and ("query_id" in bank or "query_text" in bank):
        return "workbench"
    if "criteria" in bank:
        return "criteria"
    if "nuggets" in bank and ("qid" in bank or "query" in bank):
        return "nuggetizer"
    if isinstance(bank.get("questions"), dict) and "globalID" in bank:
        return "tqa"
    if bank and all(isinstance(facets, dict) for facets in bank.values()):
        of_facets = [facet for facets in bank.values() for facet in facets.values()]
        if of_facets and all(isinstance(f, dict) and "questions" in f for f in of_facets):
            return "genq"
    return None


def workbench(line: int | None, bank: dict, findings: Findings) -> Iterator[Draft]:
    """RUBRIC workbench: one object per query and facet, its `items` questions or nuggets.

    `weight`, and criteria with their `kind`, are ours (the workbench has none, and passes over it).
    """
    query_id, facet_id = bank.get("query_id"), bank.get("facet_id")
    for place, item in _listed(line, bank, "items", findings):
        kinds = [kind for kind in ("question", "nugget", "criterion") if f"{kind}_text" in item]
        if len(kinds) == 2:
            place.leave_out("kind", "both a question and a nugget")
            continue
        kind = kinds[0] if kinds else "nugget" if "nugget_id" in item else "question"
        if _differ(place, "query", item.get("query_id"), query_id):
            continue
        if _differ(place, "facet", item.get("facet_id"), facet_id):
            continue
        yield Draft(
            place,
            _first(query_id, item.get("query_id")),
            item.get("kind") if kind == "criterion" else kind,
            item.get(f"{kind}_text"),
            _first(facet_id, item.get("facet_id")),
            item.get(f"{kind}_id"),
            item.get("gold_answers"),
            item.get("weight"),
            bank=bank,
            source=item,
        )


def nuggetizer(line: int | None, bank: dict, findings: Findings) -> Iterator[Draft]:
    """nuggetizer (and autojudge v4): {query, qid, nuggets: [{text, importance}]}, no item ids."""
    query = bank.get("query")
    query_id = _first(bank.get("qid"), query.get("qid") if isinstance(query, dict) else None)
    for place, nugget in _listed(line, bank, "nuggets", findings):
        weight = _weight(place, nugget.get("importance"))
        text = nugget.get("text")
        yield Draft(place, query_id, "nugget", text, weight=weight, bank=bank, source=nugget)


def criteria(line: int | None, bank: dict, findings: Findings) -> Iterator[Draft]:
    """TREC RAG 2026's development rubrics: `criteria` of whole answers, each with text, type, tier
    and weight; `source_nugget` and whatever else it has comes back in an export."""
    query_id = _first(bank.get("qid"), bank.get("query_id"), bank.get("topic_id"))
    for place, one in _listed(line, bank, "criteria", findings):
        tier, type_ = (_text(one.get(key)).strip().lower() for key in ("tier", "type"))
        yield Draft(
            place,
            query_id,
            f"criterion:{tier}:{type_}",
            one.get("text"),
            weight=_first(one.get("weight"), WEIGHTS.get(tier)),
            bank=bank,
            source=one,
        )


def argue(line: int | None, bank: dict, findings: Findings) -> Iterator[Draft]:
    """autojudge (v3 and RAGTIME 2026): `nugget_bank` of questions, `claim_bank` of claims.

    Either is a list, or an object keyed by text; sub-nuggets become items beside the one they
    belong to. An answer's references are passed over: which passages answer a question is what
    grading finds out. An id that is the bare md5 of the text becomes the published scheme's.
    """
    stated = bank.get("metadata")
    metadata = stated if isinstance(stated, dict) else {}
    query_id = _first(bank.get("query_id"), metadata.get("topic_id"), metadata.get("query_id"))
    for key, text_key in (("nugget_bank", "question"), ("claim_bank", "claim")):
        if bank.get(key) is not None:
            yield from _nuggets(line, bank, key, text_key, query_id, findings)


def _nuggets(
    line: int | None,
    held: dict,
    key: str,
    text_key: str,
    query_id: Any,
    findings: Findings,
    parent: str = "",
) -> Iterator[Draft]:
    """A list of autojudge's questions or claims, each with its sub-nuggets behind it; `parent`
    names the one that they belong to."""
    for place, nugget in _listed(line, held, key, findings, text_key, parent):
        what = next((name for name in ("question", "claim") if nugget.get(name)), text_key)
        name = place.name.replace("item", what, 1)
        place = place._replace(name=f"sub-{name}" if key == "sub_nuggets" else name)
        if _differ(place, "query", nugget.get("query_id"), query_id):
            continue
        answers = _answer_texts(nugget.get("answers"))
        if nugget.get("aggregator_type") in ("AND", "NOT") and answers:
            joined = f" joins its answers by {nugget['aggregator_type']}"
            place.note("aggregator", f"{joined}; here each of them counts as a right answer")
        text, stated = nugget.get(what), nugget.get(f"{what}_id")
        yield Draft(
            place,
            _first(query_id, nugget.get("query_id")),
            {"question": "question", "claim": "nugget"}[what],
            text,
            item_id=None if _is_md5_of(stated, text) else stated,
            gold_answers=answers,
            weight=_weight(place, nugget.get("importance")),
        )
        if below := nugget.get("sub_nuggets"):
            n = len(below) if isinstance(below, list | dict) else 1
            of_this = f" of {place.name}"
            message = f"sub-nuggets{of_this} are items of their own beside it ({n})"
            findings.note("sub-nuggets", place.line, message)
            yield from _nuggets(
                place.line, nugget, "sub_nuggets", what, query_id, findings, of_this
            )


def genq(line: int | None, queries: dict, findings: Findings) -> Iterator[Draft]:
    """The workbench's genq: {query: {facet: {title, facet, questions: [text]}}}.

    As its reader does, a leading number ("1. ") is taken off a question, whose id is the md5 of
    the text with it, and what is left of one character at most is passed over.
    """
    for query_id, facets in queries.items():
        for facet_id, facet in facets.items():
            title, facet_text = facet.get("title"), facet.get("facet")
            bank = {
                "facet_text": facet_text,
                "query_text": " / ".join(filter(None, map(_text, (title, facet_text)))) or None,
            }
            for place, question in _listed(line, facet, "questions", findings, "text"):
                name = place.name.replace("item", f"question of {query_id}/{facet_id},", 1)
                place = place._replace(name=name)
                asked = question.get("text")
                text = re.sub(r"^\d+\.\s+", "", asked) if isinstance(asked, str) else asked
                if isinstance(text, str) and len(text) < 2:
                    place.note("short", f": {asked!r} is passed over")
                    continue
                stated = hashlib.md5(asked.encode()).hexdigest() if isinstance(asked, str) else ""
                yield Draft(
                    place,
                    query_id,
                    "question",
                    text,
                    facet_id,
                    f"{query_id}/{facet_id}/{stated}",
                    follows_scheme=False,
                    bank=bank,
                )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def tqa(line: int | None, lesson: dict, findings: Findings) -> Iterator[Draft]:
    """TQA (textbook question answering): lessons with multiple-choice questions and an answer key.

    The query is `tqa2:` and the lesson's id, as in TREC CAR; ids are the questions' own
    (`NDQ_...`), which graded files name. Questions on a picture are passed over. The gold answer
    is the text of the right choice, or the answer itself where there are no choices; a question
    whose answer is not among its choices is left out.
    """
    query_id = lesson.get("globalID")
    if isinstance(query_id, str) and not query_id.startswith("tqa2:"):
        query_id = f"tqa2:{query_id}"
    questions = lesson["questions"].get("nonDiagramQuestions") or {}
    pictures = lesson["questions"].get("diagramQuestions") or {}
    if pictures and isinstance(pictures, dict | list):
        findings.note(
            "diagram", line, f"{query_id}: questions on a picture are passed over ({len(pictures)})"
        )
    held = {"nonDiagramQuestions": questions}
    for place, question in _listed(line, held, "nonDiagramQuestions", findings, "id"):
        stated = question.get("globalID", question.get("id"))
        place = place._replace(name=f"question {stated}") if stated else place
        choices = question.get("answerChoices")
        choices = choices if isinstance(choices, dict) else {}
        choices = {str(key).strip(" .").lower(): _tqa_text(value) for key, value in choices.items()}
        answer = key = _tqa_text(question.get("correctAnswer"))
        if choices and isinstance(key, str):
            answer = choices.get(key.strip(" .").lower(), key if key in choices.values() else None)
        if not isinstance(answer, str) or not answer.strip():
            place.leave_out("answer", f"its right answer {key!r} is not among its choices")
            continue
        yield Draft(
            place,
            query_id,
            "question",
            _tqa_text(question.get("beingAsked")),
            item_id=stated,
            gold_answers=[answer],
            follows_scheme=False,
        )


READERS: dict[str, Reader] = {
    "workbench": workbench,
    "nuggetizer": nuggetizer,
    "criteria": criteria,
    "argue": argue,
    "tqa": tqa,
    "genq": genq,
}


def _listed(
    line: int | None,
    bank: dict,
    key: str,
    findings: Findings,
    text_key: str | None = None,
    parent: str = "",
) -> Iterator[tuple[Place, dict]]:
    """(place, object) of a list; with `text_key` also of an object keyed by text and of plain
    texts."""
    held = bank.get(key)
    if isinstance(held, dict) and text_key:
        entries = [(f"item {name!r}{parent}", name, value) for name, value in held.items()]
    elif isinstance(held, list):
        entries = [(f"item {n}{parent}", None, value) for n, value in enumerate(held, start=1)]
    else:
        findings.leave_out("bank", line, f"{key!r}{parent} is not a list of items: left out", n=0)
        return
    if not entries:
        findings.note("bank", line, f"{key!r}{parent} is empty")
    for shown, name, value in entries:
        if isinstance(value, str) and text_key:
            value = {text_key: value}
        place = Place(findings, line_of(value, line), shown)
        if not isinstance(value, dict):
            place.leave_out("bank", f"{value!r} is not an object")
            continue
        if name is not None and value.get(text_key) is None:
            value = value | {text_key: name}
        yield place, value


def _differ(place: Place, what: str, ours: Any, of_bank: Any) -> bool:
    """Whether an item names another query (or facet) than its bank: then it is left out."""
    if ours is None or of_bank is None or str(ours).strip() == str(of_bank).strip():
        return False
    place.leave_out(f"other {what}", f"it says {what} {ours!r}, its bank says {of_bank!r}")
    return True


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _weight(place: Place, importance: Any) -> Any:
    """Weight of an importance: a number is one, `vital` and `okay` stand for 1 and 0.5."""
    if not isinstance(importance, str):
        return importance
    word = importance.strip().lower()
    if word == "failed":
        place.note("importance", ": importance 'failed' is read as 'okay'")
    if word in IMPORTANCE:
        return IMPORTANCE[word]
    try:
        return float(word)
    except ValueError:
        place.note("importance", f": importance {importance!r} is read as weight 1")
        return None


def _answer_texts(answers: Any) -> Any:
    """The texts of answers in a list, in an object keyed by text, or of a single one."""
    if isinstance(answers, dict):
        answers = [
            {"answer": text} | value if isinstance(value, dict) else text
            for text, value in answers.items()
        ]
    if isinstance(answers, list):
        return [answer.get("answer") if isinstance(answer, dict) else answer for answer in answers]
    return answers


def _is_md5_of(stated: Any, text: Any) -> bool:
    if not (isinstance(stated, str) and isinstance(text, str)):
        return False
    return stated in {hashlib.md5(t.encode()).hexdigest() for t in (text, text.strip())}


def _tqa_text(value: Any) -> Any:
    """TQA's texts come cleaned, raw, or both; other files have plain text."""
    if isinstance(value, dict):
        return value.get("processedText", value.get("rawText"))
    return value
