"""What the RUBRIC workbench's own reader requires of its files: the pydantic models of exam_pp
0.1.2 (`data_model.py`, `question_bank_loader.py`), whose package asks for releases of pydantic,
openai and transformers that cannot be installed beside ours. Other keys are passed over."""

from typing import Any

from pydantic import BaseModel, RootModel


class Item(BaseModel):
    """`ExamQuestion` or `Nugget`."""

    query_id: str
    facet_id: str | None = None
    info: Any = None
    question_id: str | None = None
    question_text: str | None = None
    gold_answers: set[str] | None = None
    nugget_id: str | None = None
    nugget_text: str | None = None

    def model_post_init(self, _: Any) -> None:
        question, nugget = (
            (self.question_id, self.question_text),
            (self.nugget_id, self.nugget_text),
        )
        if None in question and None in nugget:
            raise ValueError("neither a question nor a nugget is whole")


class Bank(BaseModel):
    """`QueryQuestionBank` or `QueryNuggetBank`: a line of a test bank."""

    query_id: str
    facet_id: str | None = None
    facet_text: str | None = None
    test_collection: str
    query_text: str
    info: Any = None
    hash: int = 1243234
    items: list[Item]

    def model_post_init(self, _: Any) -> None:
        if {item.query_id for item in self.items} - {self.query_id}:
            raise ValueError("query_ids don't match")  # load_prompts_from_test_bank raises


class SelfRating(BaseModel):
    question_id: str | None = None
    nugget_id: str | None = None
    self_rating: int

    def model_post_init(self, _: Any) -> None:
        if self.question_id is None and self.nugget_id is None:
            raise ValueError("Neither question_id nor nugget_id is given.")


class ExamGrades(BaseModel):
    correctAnswered: list[str]
    wrongAnswered: list[str]
    answers: list[tuple[str, str]]
    llm: str
    llm_options: dict[str, Any]
    exam_ratio: float
    prompt_info: dict[str, Any] | None = None
    self_ratings: list[SelfRating] | None = None
    prompt_type: str | None = None


class Grades(BaseModel):
    correctAnswered: bool
    answer: str
    llm: str
    llm_options: dict[str, Any]
    prompt_info: dict[str, Any] | None = None
    self_ratings: int | None = None
    prompt_type: str | None = None


class Judgment(BaseModel):
    paragraphId: str
    query: str
    relevance: int
    titleQuery: str


class Ranking(BaseModel):
    method: str
    paragraphId: str
    queryId: str
    rank: int
    score: float


class ParagraphData(BaseModel):
    judgments: list[Judgment]
    rankings: list[Ranking]


class Paragraph(BaseModel):
    """`FullParagraphData`; a line of graded passages is [query_id, [Paragraph]]."""

    paragraph_id: str
    text: str
    paragraph: Any = None
    paragraph_data: ParagraphData
    exam_grades: list[ExamGrades] | None = None
    grades: list[Grades] | None = None


class Line(RootModel):
    root: tuple[str, list[Paragraph]]
