"""The file that a form gives back: read, and refused where it is not as the form wrote it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from gradelake.grading.review.cards import AT_ONCE
from gradelake.grading.review.form.form_export import FORMAT, form_id
from gradelake.sql.common import files
from gradelake.sql.common.checked import Checked, Name, read
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems, reject

LARGEST = 64 << 20  # bytes; `AT_ONCE` answers with notes are some 10 MB
_AS_SAVED = "Import the file as the browser saved it: open the form again, and save anew."


def _time(value: str) -> str:
    try:
        if datetime.fromisoformat(value).astimezone(UTC).year >= 2020 and value.endswith("Z"):
            return value
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"{value!r} is no time such as 2026-01-31T09:30:00.000Z", _AS_SAVED)


class FormAnswer(Checked):
    """An assessor's answer to one card, and when. The hashes are of the texts that it showed."""

    query_id: str
    passage_id: str
    item_id: str
    passage_sha256: str
    query_sha256: str
    grade: int
    note: Annotated[str, Field(max_length=10_000)] | None
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
    answered_at: Annotated[str, AfterValidator(_time)]

    @property
    def card(self) -> tuple[str, str, str]:
        return self.query_id, self.passage_id, self.item_id

    @property
    def time(self) -> datetime:
        """When it was given: UTC, without a zone."""
        return datetime.fromisoformat(self.answered_at).replace(tzinfo=None)


class Answers(Checked):
    """The file: which form it is of, and a `FormAnswer` for each answered card."""

    format: str
    form: str
    deck: str
    collection: Name
    grader: str
    grader_id: str
    assessor: Name
    answers: Annotated[list[Any], Field(max_length=AT_ONCE)]


def read_answers(path: Path, shown: str) -> tuple[Answers, list[FormAnswer]]:
    """The file and its answers. Raises `BadInput` for one that no form saved, and `Rejected` for
    one that was changed, or is damaged, with every answer concerned."""
    if not path.is_file():
        raise BadInput(f"{shown}: no such file", "Name the file that the form saved.")
    data = bytearray()
    for chunk in files.chunks(path, shown):
        data += chunk
        if len(data) > LARGEST:
            larger = f"is larger than {LARGEST >> 20} MiB"
            raise reject(shown, None, larger, "Is this the right file?")
    content = files.json_of(bytes(data), shown, _AS_SAVED)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BadInput(
            f"{shown}: holds no answers of a form (its `format` is not {FORMAT!r})",
            "Name the file that `Save my answers` put into the browser's downloads.",
        )
    problems = Problems(shown, _AS_SAVED)
    found, wrong = read(Answers, content)
    for fault in wrong:
        problems.add(None, str(fault))
    problems.raise_if_any()
    assert found
    if found.form != form_id(found.collection, found.grader_id, found.assessor, found.deck):
        raise BadInput(
            f"{shown}: its collection, grader_id or assessor is not what the form was made for",
            "It was edited: import it as the browser saved it. Another assessor needs a form, too.",
        )
    return found, list(_answers(found.answers, problems))


def _answers(found: list[Any], problems: Problems) -> Iterator[FormAnswer]:
    seen: dict[tuple[str, str, str], int] = {}
    for n, each in enumerate(found, start=1):
        if not isinstance(each, dict):
            problems.add(None, f"answer {n} is no JSON object")
            continue
        answer, wrong = read(FormAnswer, each)
        for fault in wrong:
            problems.add(None, f"answer {n}: {fault.message}")
        if not answer:
            continue
        first = seen.setdefault(answer.card, n)
        if first != n:
            problems.add(None, f"answer {n} is of the same card as answer {first}")
        yield answer
    problems.raise_if_any()
