"""What a graded file may hold, as pydantic checks it: the workbench's data model, release 2.0.

Keys that it does not name are allowed. What is checked raises `LineFault`, in a person's words.
"""

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

import polars as pl
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)

from gradelake.grading.exchange.workbench import GRADER_COLUMNS, OF_ITEM, TARGETS
from gradelake.grading.prompts.reply import STATUSES
from gradelake.sql.common import files
from gradelake.sql.lake.rows import types_of

T = TypeVar("T")
NO_REASON = "no reason given"


class LineFault(ValueError):
    """What is wrong with a line, for its reader."""


def _whole(value: Any) -> Any:
    if not (isinstance(value, float) and value.is_integer()):
        return value
    if not -(1 << 31) <= value < 1 << 31:  # said of the value as the file has it
        raise ValueError(f"is {value}, which is out of range")
    return int(value)


def _time(value: Any) -> datetime:
    """A time without a zone, as the lake has it; one with a zone is taken to UTC."""
    try:
        time = datetime.fromisoformat(value)
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"is {short(value)}, not a time") from None


def _settings(value: str) -> str:
    with suppress(ValueError):
        if isinstance(files.parse_json(value), dict):
            return value
    raise ValueError("is no JSON object")


def _answer(pair: Any) -> tuple[str, str | None]:
    if isinstance(pair, list) and len(pair) == 2:
        item_id, text = pair
        if item_id and isinstance(item_id, str) and isinstance(text, str | None):
            return item_id, text
    raise ValueError(f"is {short(pair)}, not [item id, text]")


def error_of(error: Any) -> tuple[str, str | None]:
    """(reason, reply) of a prompt that failed; some files hold the reason alone."""
    if isinstance(error, str):
        return error or NO_REASON, None
    if not isinstance(error, dict):
        raise ValueError(f"is {short(error)}, not an object")
    reason = error.get("failure_reason") or error.get("caught_exception") or NO_REASON
    response = error.get("response")
    if not isinstance(response, str | None):
        raise ValueError(f"has the response {short(response)}, not a string")
    return str(reason), response or None


def _errors_of(found: Any) -> list[tuple[str | None, tuple[str, str | None]]]:
    """(item, (reason, reply)) of an entry's failed prompts; None where an error names no item.

    They are an object; lists in some files, of [item id, error] or of errors that name the item.
    """
    try:
        pairs = found.items() if isinstance(found, dict) else map(_with_item, found or [])
        return [(item_id, error_of(error)) for item_id, error in pairs]
    except (AttributeError, TypeError, ValueError):
        raise ValueError(f"is {short(found)}, not an object of items and their errors") from None


def _with_item(error: Any) -> tuple[str | None, Any]:
    if isinstance(error, list):
        item_id, error = error
    else:
        item_id = error.get("question_id") or error.get("nugget_id")
    if item_id is not None and not (item_id and isinstance(item_id, str)):
        raise ValueError(item_id)
    return item_id, error


Text = Annotated[str, Field(min_length=1)]
Whole = Annotated[int, Field(ge=-(1 << 31), lt=1 << 31), BeforeValidator(_whole)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Float32 = Annotated[Finite, Field(ge=-3e38, le=3e38)]
Time = Annotated[datetime, PlainValidator(_time)]
Answer = Annotated[tuple[str, str | None], PlainValidator(_answer)]
Error = Annotated[
    tuple[str, str | None] | None, PlainValidator(lambda error: error_of(error) if error else None)
]
Errors = Annotated[list[tuple[str | None, tuple[str, str | None]]], PlainValidator(_errors_of)]
# null is none; pydantic would copy a default deeply for each object
Many = Annotated[list[T], BeforeValidator(lambda value: value or []), Field(default_factory=list)]


class Object(BaseModel):
    """A JSON object that may have other keys."""

    model_config = ConfigDict(extra="allow", strict=True)


class Judgment(Object):
    """A judgment of a paragraph. The workbench's own files name no assessor."""

    assessor: Text | None = None
    relevance: Whole


class Ranking(Object):
    method: Text
    rank: Whole
    score: Float32


class ParagraphData(Object):
    """What was known of a paragraph before it was graded."""

    judgments: Many[Judgment]
    rankings: Many[Ranking]


class Rating(Object):
    """What a paragraph is worth for one item; no rating where its prompt failed."""

    question_id: str | None = None
    nugget_id: str | None = None
    self_rating: Whole | None = None

    @property
    def item_id(self) -> str:
        return self.question_id or self.nugget_id or ""

    @model_validator(mode="after")
    def _of_an_item(self) -> Self:
        if not self.item_id:
            raise ValueError("question_id or nugget_id is missing")
        return self


# a grade and a grader as `gradelake export grades` writes them: a key for each column of the lake
_OF_A_LAKE = ConfigDict(extra="ignore", strict=True)
_TYPES: dict[Any, Any] = {
    pl.String: str,
    pl.Int64: Whole,
    pl.Float64: Finite,
    pl.List(pl.Float64): list[Finite],
    pl.Datetime("us"): Time,
}
_GRADE: dict[str, Any] = {
    column: (_TYPES[kind] | None, None) for column, kind in types_of("grades", *OF_ITEM).items()
}
_GRADE |= {"item_id": (str, ...), "status": (Literal[STATUSES], ...)}
_GRADER: dict[str, Any] = dict.fromkeys(GRADER_COLUMNS, (str, ...)) | {
    **dict.fromkeys(("grader_id", "name", "engine", "parser"), (Text, ...)),
    **dict.fromkeys(("scale_min", "scale_max"), (Whole, ...)),
    "target": (Literal[TARGETS], ...),
    "prompt_text": (str | None, None),
    "settings": (Annotated[str, AfterValidator(_settings)], ...),
    "created_at": (Time, ...),
}
RestoredGrade: Any = create_model("RestoredGrade", __config__=_OF_A_LAKE, **_GRADE)
RestoredGrader: Any = create_model("RestoredGrader", __config__=_OF_A_LAKE, **_GRADER)


class Restored(Object):
    grades: list[RestoredGrade]


class PromptInfo(Object):
    prompt_class: str | None = None
    is_self_rated: Any = None


class Options(Object):
    """What the model was run with; of a grader of a lake, its row."""

    gradelake: RestoredGrader | None = None


class Entry(Object):
    llm: str
    llm_options: Options | None = None
    prompt_info: PromptInfo | None = None
    prompt_type: str | None = None
    relevance_label: Whole | None = None
    gradelake: Restored | None = None


class ExamEntry(Entry):
    """A rating, or an extracted answer, for each item."""

    self_ratings: Many[Rating]
    answers: Many[Answer]
    correct: Many[Text] = Field(alias="correctAnswered")
    wrong: Many[Text] = Field(alias="wrongAnswered")
    errors: Errors = Field(default_factory=list, alias="llm_response_errors")
    exam_ratio: Any = None

    @property
    def is_rated(self) -> bool:
        """Whether the model rated, rather than extracted answers."""
        info = self.prompt_info
        return bool(self.self_ratings or (info and info.is_self_rated is True))

    @property
    def target(self) -> str:
        """What was rated; files older than `prompt_type` tell it by the key of the ratings."""
        if not self.is_rated:
            return "extract"
        if self.prompt_type:
            return "nugget" if self.prompt_type == "nugget" else "question"
        return "nugget" if self.self_ratings and self.self_ratings[0].nugget_id else "question"


class DirectEntry(Entry):
    """A judgment of the paragraph as a whole."""

    target: ClassVar[str] = "direct"
    correct: bool | None = Field(None, alias="correctAnswered")
    answer: str | None = None
    self_ratings: Whole | None = None
    error: Error = Field(None, alias="llm_response_error")


class Paragraph(Object):
    paragraph_id: Text
    text: str
    paragraph_data: Annotated[ParagraphData, BeforeValidator(lambda data: data or {})] = Field(
        default_factory=lambda: ParagraphData.model_validate({})
    )
    exam_grades: Many[ExamEntry]
    grades: Many[DirectEntry]


# pydantic's type of an error -> what the value is, or what it must be
_IS = {
    "missing": "is missing",
    "string_too_short": "is empty",
    **dict.fromkeys(
        ("greater_than_equal", "less_than", "less_than_equal"), "is {}, which is out of range"
    ),
}
_MUST_BE = {
    "string_type": "a string",
    "list_type": "a list",
    **dict.fromkeys(("dict_type", "model_type"), "an object"),
    "bool_type": "true or false",
    **dict.fromkeys(("int_type", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "finite_number"), "a finite number"),
}
_STRICT = ConfigDict(strict=True)
TEXT = TypeAdapter(Text, config=_STRICT)
WHOLE = TypeAdapter(Whole, config=_STRICT)
PARAGRAPH = TypeAdapter(Paragraph)


def checked(kind: TypeAdapter[T], value: Any, what: str = "") -> T:
    """The value of that kind. Raises `LineFault` with the first that is wrong, and where it
    stands."""
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        each = error.errors(include_url=False)[0]
    where = what
    for part in each["loc"]:
        where += f" {part + 1}" if isinstance(part, int) else f"{', ' if where else ''}{part}"
    wrong, value = each["type"], short(each["input"])
    if wrong in _IS:
        message = _IS[wrong].format(value)
    elif wrong in _MUST_BE:
        message = f"is {value}, not {_MUST_BE[wrong]}"
    elif wrong == "literal_error":
        message = f"is {value}, not {each['ctx']['expected']}"
    else:
        message = str(each["ctx"]["error"]) if wrong == "value_error" else each["msg"]
    raise LineFault(f"{where or 'this'} {message}")


def short(value: Any) -> str:
    """A value as a person is shown it."""
    if value is None:
        return "missing"
    return json.dumps(value, ensure_ascii=False, default=str)[:60]
