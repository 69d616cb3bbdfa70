"""What gradelake.toml says of a table: its file, how it is written, and what its columns hold.

A role is what a column is to us (query, passage, score, ...). Where no setting names its column,
the usual names of a role are looked for, in their order.
"""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, GetPydanticSchema

from gradelake.sql.common.checked import Checked, Text

_OF_ANYTHING = ("id", "_id")
# the names these go by in the formats people have (ours first, then BEIR, TREC RAG, shops, ...)
_QUERY_ID = ("query_id", "qid", "id", "_id", "request_id", "topic_id", "narrative_id", "query-id")
_QUERY = (
    *(name for name in _QUERY_ID if name not in _OF_ANYTHING),
    *("query", "search_term", "term", "question", "user_input"),
)
_QUERY_TEXT = ("text", "query", "query_text", "title", "search_term", "term", "question")
_PASSAGE = (
    *("passage_id", "docid", "doc_id", "pid", "id", "_id", "paragraph_id", "corpus-id"),
    *("document_id", "product_id", "sku", "url"),
)
_OF_ROWS = (
    *(name for name in _PASSAGE if name not in _OF_ANYTHING),
    *("passage", "document", "doc"),
)


class Form(Checked):
    """A file, and how its table is written. Each kind of table adds its roles."""

    file: Text
    table: Text | None = None  # of a database, or a sheet of a workbook
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    encoding: Text | None = None

    def column(self, role: str) -> str | None:
        """The column that a setting names for a role, in lower case."""
        named: str | None = getattr(self, role, None)
        return named and named.strip().lower()


class File(str):
    """A file's name, and what settings say of its table; `form` is None where they say nothing."""

    form: Form | None

    def __new__(cls, name: str, form: Form | None = None) -> "File":
        file = super().__new__(cls, name)
        file.form = form
        return file


def form_of(shown: str) -> Form | None:
    """What settings say of the table in a file, beside the file's name."""
    return shown.form if isinstance(shown, File) else None


Column = Text | None


def _usual(*names: str) -> Any:
    """A role, by the usual names of its column."""
    return Field(None, examples=[*names])


class Topics(Form):
    query: Column = _usual(*_QUERY_ID)
    text: Column = _usual(*_QUERY_TEXT)
    description: Column = _usual("description", "problem_statement")
    narrative: Column = _usual("narrative", "background")
    weight: Column = _usual("weight", "traffic", "frequency")
    cluster: Column = _usual("cluster")
    segments: Column = _usual("segments", "segment")


class Passages(Form):
    """`template`: of several columns, such as "{title} by {brand}", one text that prompts see."""

    passage: Column = _usual(*_PASSAGE)
    title: Column = _usual("title")
    text: Column = _usual("text", "passage", "contents", "segment", "body", "doc", "description")
    template: Text | None = None


class Runs(Form):
    query: Column = _usual(*_QUERY)
    passage: Column = _usual(*_OF_ROWS, "results", "id")
    rank: Column = _usual("rank", "position", "pos")
    score: Column = _usual("score", "similarity")
    system: Column = _usual("system", "run", "ranker", "variant")


class Judgments(Form):
    query: Column = _usual(*_QUERY)
    passage: Column = _usual(*_OF_ROWS, "id")
    judgment: Column = _usual("judgment", "relevance", "rating", "label", "grade", "stars", "score")
    rater: Column = _usual("rater", "assessor", "annotator")


class Responses(Form):
    query: Column = _usual(*_QUERY)
    text: Column = _usual("text", "response", "answer", "output")
    system: Column = _usual("system", "run", "run_id", "variant")


class Clicks(Form):
    query: Column = _usual(*_QUERY)
    passage: Column = _usual(*_OF_ROWS, "id")
    position: Column = _usual("position", "rank", "pos")
    clicks: Column = _usual("clicked", "clicks", "n_clicks", "click")
    impressions: Column = _usual("impressions", "n_impressions", "views")
    day: Column = _usual("day", "date")


class Logs(Form):
    """Of RAG systems, as ragas, DeepEval, TruLens and datasets of HF name what is in them. The
    `context` of DeepEval is what should have been found, no ranking."""

    question: Column = _usual("question", "user_input", "input", "query")
    answer: Column = _usual("answer", "response", "actual_output", "output")
    contexts: Column = _usual("contexts", "retrieved_contexts", "retrieval_context")
    reference: Column = _usual("reference", "ground_truth", "ground_truths", "expected_output")
    query: Column = _usual("query_id", "qid", "question_id")


LISTS = ("contexts", "reference")  # roles whose values may stand in a column each
_KINDS: dict[str, type[Form]] = {
    "queries": Topics,
    "passages": Passages,
    "runs": Runs,
    "judgments": Judgments,
    "responses": Responses,
    "clicks": Clicks,
    "rag": Logs,
}
# kind of table -> role -> usual names of its column
ROLES: dict[str, dict[str, tuple[str, ...]]] = {
    kind: {
        role: tuple(field.examples) for role, field in form.model_fields.items() if field.examples
    }
    for kind, form in _KINDS.items()
}


def _as_form(value: Any) -> Any:
    if not isinstance(value, str | dict | Form):
        what = f"{value!r} is neither a file's name nor a table with one"
        raise ValueError(what, 'For example: { file = "b.csv", query = "search_term" }.')
    return {"file": value} if isinstance(value, str) else value


def _as_file(form: Form) -> File:
    says_more = form.model_dump(exclude_none=True).keys() != {"file"}
    return File(form.file, form if says_more else None)


def said_by(form: type[Form]) -> GetPydanticSchema:
    """What a `File` is in settings: its name alone, or a table with what this form holds."""
    either: Any = Annotated[form, BeforeValidator(_as_form), AfterValidator(_as_file)]
    return GetPydanticSchema(lambda _, handler: handler.generate_schema(either))


PLAIN = Form(file="-")  # of a table that no setting describes
